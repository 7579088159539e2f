package import Glibc

/// Sole owner of an open file descriptor: closed when the last reference goes, so that it can cross tasks.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    /// What lives for as long as the file.
    private let companion: (any Sendable)?

    /// - Parameters:
    ///   - descriptor: an open descriptor that nobody else closes.
    ///   - companion: what is to live for as long as the file.
    package init(adopting descriptor: Int32, keeping companion: (any Sendable)? = nil) {
        self.descriptor = descriptor
        self.companion = companion
    }

    deinit { close(descriptor) }

    /// The file's identity and size now (fstat). Nil if the descriptor cannot be asked.
    package func status() -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }
}
