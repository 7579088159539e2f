package import Glibc

/// Sole owner of an open file descriptor: closed when the last reference goes, so that it can cross tasks.
package final class OpenFile: Sendable {
    package let descriptor: Int32

    /// - Parameter descriptor: an open descriptor that nobody else closes.
    package init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The file's identity and size now (fstat). Nil if the descriptor cannot be asked.
    package func status() -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }
}
