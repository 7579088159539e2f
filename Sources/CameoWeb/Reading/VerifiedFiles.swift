internal import CameoModel
internal import CameoStore
internal import Dispatch
internal import Foundation
internal import Synchronization

// DESIGN. Stored bytes are never served without having been compared with their digest (invariant I6). Those of a file are
// read piece by piece while the client takes them, when a status has long been sent and a part may be all that is wanted.
// So a file is read through once before its first answer; the system keeps its pages for the second reading. From then on
// the same file, by its inode, length and times, counts as compared.
final class VerifiedFiles: Sendable {
    private struct Identity: Hashable, Sendable {
        let device, inode, modified, changed: Int
        let digest: BlobDigest
    }

    private static let limit = 10_000
    static let piece = 262_144

    private let known = Mutex<Set<Identity>>([])
    /// Reading blocks; the pool of Swift's tasks must not.
    private let queue = DispatchQueue(label: "cameo.web.files", attributes: .concurrent)

    /// - Throws: ``StoreError/damagedBlob(digest:)``
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
        let isWhole = await perform { Self.digest(of: file, count: count) == digest }
        guard isWhole else { throw .damagedBlob(digest: digest.description) }
        known.withLock { known in
            if known.count >= Self.limit { known.removeAll() }
            known.insert(identity)
        }
    }

    /// Bytes of a file; fewer where it has been cut off since.
    func read(_ file: OpenFile, _ range: Range<Int>) async -> [UInt8] {
        await perform { Self.read(file, range) }
    }

    private static func digest(of file: OpenFile, count: Int) -> BlobDigest {
        var hash = SHA256()
        for start in stride(from: 0, to: count, by: piece) {
            read(file, start..<min(start + piece, count)).withUnsafeBytes { hash.update($0) }
        }
        return hash.finalize()
    }

    private static func read(_ file: OpenFile, _ range: Range<Int>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, done in
            while done < range.count {
                let count = pread(
                    file.descriptor,
                    buffer.baseAddress.map { $0 + done },
                    range.count - done,
                    off_t(range.lowerBound + done)
                )
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                done += count
            }
        }
    }

    private func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
