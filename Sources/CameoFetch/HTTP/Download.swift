internal import CameoModel
internal import Glibc

/// Bytes on their way into a memory file, hashed as they pass.
struct Download: ~Copyable {
    /// A complete download.
    struct Body: Sendable {
        /// Sealed, its offset 0.
        let file: OpenFile
        let bytes: Int
        let digest: BlobDigest
    }

    private let file: OpenFile
    private var hash = SHA256()
    private var count = 0

    /// - Throws: the errno of memfd_create.
    init() throws(Errno) {
        file = try OpenFile.memory()
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try file.write(bytes)
        hash.update(bytes)
        count += bytes.count
    }

    consuming func finish() throws(Errno) -> Body {
        try file.seal()
        guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw Errno() }
        let (file, count) = (file, count)
        return Body(file: file, bytes: count, digest: hash.finalize())
    }
}
