internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// A range of a file, sent piece by piece as fast as the client accepts it.
struct FileBody: Sendable {
    let file: OpenFile
    let range: Range<Int>
    let files: VerifiedFiles
    let channel: any Channel

    /// How long a client may accept nothing before its connection is closed.
    static let patience = TimeAmount.seconds(30)

    /// Writes bytes. If the client takes none of them for so long, closes its connection, which makes the write fail.
    @concurrent
    static func write(
        _ bytes: ByteBuffer,
        to writer: inout any ResponseBodyWriter,
        on channel: any Channel
    ) async throws {
        let timeout = channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        defer { timeout.cancel() }
        try await writer.write(bytes)
    }

    private struct CutOff: Error {}

    var responseBody: ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            // The pieces that were accepted, and those that were at the last look.
            let (pieces, seen) = (Live(0), Live(0))
            // The event loop drops a cancelled timer at once. Swift would keep a cancelled sleep until its time.
            let watch = channel.eventLoop.scheduleRepeatedTask(initialDelay: Self.patience, delay: Self.patience) {
                [channel] _ in
                let count = pieces.value
                // This makes the pending write fail.
                if count == seen.value { channel.close(promise: nil) }
                seen.value = count
            }
            defer { watch.cancel() }
            for start in stride(from: range.lowerBound, to: range.upperBound, by: VerifiedFiles.piece) {
                let piece = start..<min(start + VerifiedFiles.piece, range.upperBound)
                let bytes = await files.read(file, piece)
                // The length has been announced: closing tells the client that bytes are missing.
                guard bytes.count == piece.count else {
                    channel.close(promise: nil)
                    throw CutOff()
                }
                try await writer.write(ByteBuffer(bytes: bytes))
                pieces.value += 1
            }
            try await writer.finish(nil)
        }
    }
}

// DESIGN. Stored bytes are never served before they are verified against their digest (invariant I6). A file is read
// piece by piece as the client accepts it: by then the status has been sent, and only a range may be requested. So a
// file is read in full once before its first response; the page cache keeps it for the second read. From then on, the
// same file, identified by its device, inode and times, counts as verified.
final class VerifiedFiles: Sendable {
    private struct Identity: Hashable, Sendable {
        let device, inode, modified, changed: Int
        let digest: BlobDigest
    }

    private static let limit = 10_000
    static let piece = 262_144

    private let known = Mutex<Set<Identity>>([])
    private let threads = BlockingThreads(limit: 32, name: "cameo-web-files") {}

    deinit { threads.shutdown() }

    /// Verifies the file's bytes against the digest, unless that has been done before.
    ///
    /// - Throws: ``StoreError/damagedBlob(digest:isMissing:)``
    func verify(_ file: OpenFile, count: Int, as digest: BlobDigest) async throws(StoreError) {
        guard let status = file.status() else { throw .damagedBlob(digest: digest.description) }
        let identity = Identity(
            device: Int(status.st_dev),
            inode: Int(status.st_ino),
            modified: Int(status.st_mtim.tv_sec) * 1_000_000_000 + Int(status.st_mtim.tv_nsec),
            changed: Int(status.st_ctim.tv_sec) * 1_000_000_000 + Int(status.st_ctim.tv_nsec),
            digest: digest
        )
        if known.withLock({ $0.contains(identity) }) { return }
        let found = await threads.run { _, _ in Self.digest(of: file, count: count) }
        guard found == digest else { throw .damagedBlob(digest: digest.description) }
        known.withLock { known in
            if known.count >= Self.limit { known.removeAll() }
            known.insert(identity)
        }
    }

    /// Reads a range of a file; returns fewer bytes if the file was truncated meanwhile.
    func read(_ file: OpenFile, _ range: Range<Int>) async -> [UInt8] {
        await threads.run { _, _ in file.bytes(in: range) } ?? []
    }

    private static func digest(of file: OpenFile, count: Int) -> BlobDigest {
        var hash = SHA256()
        for start in stride(from: 0, to: count, by: piece) {
            file.bytes(in: start..<min(start + piece, count)).withUnsafeBytes { hash.update($0) }
        }
        return hash.finalize()
    }
}
