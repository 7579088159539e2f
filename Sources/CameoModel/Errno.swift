internal import Glibc

/// The error number of a failed system call.
package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32

    /// - Parameter code: defaults to the current `errno`; capture it before another call can overwrite it.
    package init(_ code: Int32 = errno) {
        self.code = code
    }

    /// Whether this machine has run out of descriptors or memory.
    package var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(code) }

    /// Why no descriptor can be opened now; nil if one can.
    package static var ofDescriptors: Errno? {
        let descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        let error = Errno()
        return error.isShortage ? error : nil
    }

    package var description: String { String(cString: strerror(code)) }
}
