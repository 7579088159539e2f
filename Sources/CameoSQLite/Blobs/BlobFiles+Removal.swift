internal import CLinux
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Synchronization

/// The files that a transaction has moved aside so far.
final class MovedFiles: Sendable {
    private struct State {
        var moved: Set<BlobDigest> = []
        var orphans: Set<BlobDigest> = []
    }

    /// No two removers share a name: one may not have come to its end when the next begins.
    let remover = UUID().uuidString
    private let state = Mutex(State())

    /// By the transaction's last run.
    var digests: [BlobDigest] { state.withLock { Array($0.moved) } }
    /// By a run before, and not by the last: another process may have named them in between.
    var orphans: [BlobDigest] { state.withLock { Array($0.orphans) } }

    func add(_ digest: BlobDigest) {
        state.withLock { state in
            state.orphans.remove(digest)
            state.moved.insert(digest)
        }
    }

    /// A transaction may run twice. What it moved the first time it finds there the second time.
    func beginRun() {
        state.withLock { state in
            state.orphans.formUnion(state.moved)
            state.moved = []
        }
    }
}

extension BlobFiles {
    /// Takes a blob's file out of its place. Blocks; within a transaction, which keeps others from naming the blob.
    ///
    /// - Returns: false if the file is young, and stays.
    /// - Throws: `Errno`.
    func moveAside(_ digest: BlobDigest, madeBefore time: Int64, noting moved: MovedFiles) throws -> Bool {
        let (place, aside) = (directory.blobFile(digest), directory.removedBlob(digest, by: moved.remover))
        if rename(place, aside) != 0 {
            guard errno == ENOENT else { throw Errno() }
            // Moved by this transaction's run before, or lost long ago: there is nothing to keep.
            moved.add(digest)
            return true
        }
        var status = stat()
        guard stat(aside, &status) == 0 else { throw Errno() }
        guard status.modifiedAt <= time else {
            try putBack(digest, moved)
            return false
        }
        moved.add(digest)
        return true
    }

    /// After the commit.
    func remove(_ moved: MovedFiles) {
        for digest in moved.digests { unlink(directory.removedBlob(digest, by: moved.remover)) }
        for digest in moved.orphans { try? putBack(digest, moved) }
    }

    /// After a failure, which is what is told of: what stays aside then is missed by no row that anything names.
    func moveBack(_ moved: MovedFiles) {
        for digest in moved.digests + moved.orphans { try? putBack(digest, moved) }
    }

    /// Never over a file that was made meanwhile: it has the same bytes, and its age protects its maker.
    private func putBack(_ digest: BlobDigest, _ moved: MovedFiles) throws {
        let aside = directory.removedBlob(digest, by: moved.remover)
        if link(aside, directory.blobFile(digest)) != 0, errno != EEXIST { throw Errno() }
        unlink(aside)
    }
}

extension stat {
    /// Milliseconds since 1970.
    fileprivate var modifiedAt: Int64 { Int64(st_mtim.tv_sec) * 1_000 + Int64(st_mtim.tv_nsec) / 1_000_000 }
}
