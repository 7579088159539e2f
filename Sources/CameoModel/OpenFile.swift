package import Glibc

/// The sole owner of an open file descriptor, which it closes when the last reference is released. It can cross tasks.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    /// An object kept alive as long as the file.
    private let companion: (any Sendable)?

    /// - Parameters:
    ///   - descriptor: an open descriptor that nothing else closes.
    ///   - companion: an object to keep alive as long as the file.
    package init(adopting descriptor: Int32, keeping companion: (any Sendable)? = nil) {
        self.descriptor = descriptor
        self.companion = companion
    }

    deinit { close(descriptor) }

    /// The file's current status (fstat); nil if the call fails.
    package func status() -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }
}
