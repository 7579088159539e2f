internal import Glibc

/// The error number of a failed system call, with its text.
package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32

    /// - Parameter code: the current `errno` unless told; read it before anything else can change it.
    package init(_ code: Int32 = errno) {
        self.code = code
    }

    package var description: String { String(cString: strerror(code)) }
}
