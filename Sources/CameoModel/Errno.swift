internal import Glibc

/// The error number of a failed system call.
package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32

    /// - Parameter code: defaults to the current `errno`; capture it before another call can overwrite it.
    package init(_ code: Int32 = errno) {
        self.code = code
    }

    package var description: String { String(cString: strerror(code)) }
}
