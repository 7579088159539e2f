internal import CameoHTTPCache
internal import CameoModel
internal import Glibc
internal import Synchronization

/// A download that broke off, on its way to being completed: its bytes are in memory again, and so is the room for the rest.
final class Resumption: Sendable {
    private static let piece = 262_144

    let partial: PartialResponse
    private let download: Mutex<Download?>

    /// Copies the kept bytes into memory; nil if they are not those that were kept.
    ///
    /// - Parameters:
    ///   - partial: what is kept.
    ///   - file: its bytes, from the file's offset on.
    ///   - reservation: the reservation for the whole.
    /// - Throws: the errno of memfd_create or write.
    init?(_ partial: PartialResponse, in file: OpenFile, keeping reservation: ByteReservation) throws(Errno) {
        var download = try Download(keeping: reservation)
        var check = SHA256()
        var piece = [UInt8](repeating: 0, count: Self.piece)
        var rest = partial.count
        while rest > 0 {
            let count = read(file.descriptor, &piece, min(rest, piece.count))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            var failure: Errno?
            piece[..<count].withUnsafeBytes { bytes in
                check.update(bytes)
                do throws(Errno) { try download.append(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
            rest -= count
        }
        guard check.finalize().hex == partial.sha256 else { return nil }
        self.partial = partial
        self.download = Mutex(download)
    }

    /// The download, to go on with if the response is the rest of it. Can be taken once; without it, or for another
    /// response, its memory is given back.
    func take(for response: CacheableResponse) -> Download? {
        let download = download.withLock { $0.take() }
        guard partial.isCompleted(by: response) else { return nil }
        return download
    }
}
