internal import CameoModel
internal import Glibc

/// Writes bytes into a memory file and hashes them on the way.
struct Download: ~Copyable {
    /// A complete download.
    struct Body: Sendable {
        /// The sealed file. Its offset is 0.
        let file: OpenFile
        let bytes: Int
        let digest: BlobDigest
    }

    private let file: OpenFile
    private let reservation: ByteReservation?
    private var hash = SHA256()
    private var count = 0

    /// - Parameter reservation: the reservation for the bytes, held as long as the file.
    /// - Throws: the errno of memfd_create.
    init(keeping reservation: ByteReservation? = nil) throws(Errno) {
        file = try OpenFile.memory(keeping: reservation)
        self.reservation = reservation
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try file.write(bytes)
        hash.update(bytes)
        count += bytes.count
    }

    /// Whether the first bytes, already here, are those of a video.
    var isVideo: Bool { VideoContainer(sniffing: file) != nil }

    consuming func finish() throws(Errno) -> Body {
        try file.seal()
        guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw Errno() }
        let (file, count) = (file, count)
        reservation?.shrink(to: count)
        return Body(file: file, bytes: count, digest: hash.finalize())
    }
}
