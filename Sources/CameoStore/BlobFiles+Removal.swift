internal import CLinux
internal import CameoModel
internal import Foundation
internal import Synchronization

/// The files that a transaction has moved aside so far.
final class MovedFiles: Sendable {
    private let list = Mutex<[BlobDigest]>([])

    var digests: [BlobDigest] { list.withLock { $0 } }

    func add(_ digest: BlobDigest) { list.withLock { $0.append(digest) } }

    /// A transaction may run twice. What it moved the first time it finds there the second time.
    func forget() { list.withLock { $0 = [] } }
}

extension BlobFiles {
    /// Takes a blob's file out of its place. Blocks; within a transaction, which keeps others from naming the blob.
    ///
    /// - Returns: false if the file is young, and stays.
    /// - Throws: `Errno`.
    func moveAside(_ digest: BlobDigest, madeBefore time: Int64, noting moved: MovedFiles) throws -> Bool {
        let (place, aside) = (directory.blobFile(digest), directory.removedBlob(digest))
        if rename(place, aside) != 0 {
            guard errno == ENOENT else { throw Errno() }
            // Moved by this transaction's run before, or lost long ago: there is nothing to keep.
            moved.add(digest)
            return true
        }
        var status = stat()
        guard stat(aside, &status) == 0 else { throw Errno() }
        guard status.modifiedAt <= time else {
            guard rename(aside, place) == 0 else { throw Errno() }
            return false
        }
        moved.add(digest)
        return true
    }

    func removeMovedAside(_ digests: [BlobDigest]) {
        for digest in digests { unlink(directory.removedBlob(digest)) }
    }

    /// Over a file that was made meanwhile, which has the same bytes.
    func moveBack(_ digests: [BlobDigest]) {
        for digest in digests { rename(directory.removedBlob(digest), directory.blobFile(digest)) }
    }
}

extension stat {
    /// Milliseconds since 1970.
    fileprivate var modifiedAt: Int64 { Int64(st_mtim.tv_sec) * 1_000 + Int64(st_mtim.tv_nsec) / 1_000_000 }
}
