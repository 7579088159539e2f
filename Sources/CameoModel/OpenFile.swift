internal import CLinux
package import Foundation
internal import Glibc

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

extension OpenFile {
    /// Creates an anonymous in-memory file (memfd_create), empty and writable until it is ``seal()``ed. The companion
    /// lives as long as the memory.
    package static func memory(keeping companion: (any Sendable)? = nil) throws(Errno) -> OpenFile {
        let descriptor = cameo_memfd_create("cameo-source")
        guard descriptor >= 0 else { throw Errno() }
        return OpenFile(adopting: descriptor, keeping: companion)
    }

    /// Creates a sealed in-memory file that contains these bytes.
    package static func memory(
        containing data: Data,
        keeping companion: (any Sendable)? = nil
    ) throws(Errno) -> OpenFile {
        let file = try memory(keeping: companion)
        // Data.withUnsafeBytes rethrows untyped errors only, so the closure returns the error as a value.
        let failure = data.withUnsafeBytes { bytes -> Errno? in
            do throws(Errno) { try file.write(bytes) } catch { return error }
            return nil
        }
        if let failure { throw failure }
        try file.seal()
        return file
    }

    /// Appends all of the bytes, retrying short and interrupted writes.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 {
                guard errno == EINTR else { throw Errno() }
                continue
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Prevents any further write, growth or truncation, so that a reader's mapping cannot fail.
    package func seal() throws(Errno) {
        guard cameo_memfd_seal(descriptor) == 0 else { throw Errno() }
    }
}
