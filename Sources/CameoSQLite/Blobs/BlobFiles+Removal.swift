internal import CLinux
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Synchronization

/// The files that a removal transaction has moved aside.
final class MovedFiles: Sendable {
    private struct State {
        var moved: Set<BlobDigest> = []
        var orphans: Set<BlobDigest> = []
    }

    /// Unique per removal, because one removal may start before the previous one has finished.
    let remover = UUID().uuidString
    private let state = Mutex(State())

    /// The files moved by the transaction's last run.
    var digests: [BlobDigest] { state.withLock { Array($0.moved) } }
    /// The files moved by an earlier run but not by the last; another process may have referenced them in between.
    var orphans: [BlobDigest] { state.withLock { Array($0.orphans) } }

    func add(_ digest: BlobDigest) {
        state.withLock { state in
            state.orphans.remove(digest)
            state.moved.insert(digest)
        }
    }

    /// Starts a run. A transaction may run twice; the second run finds the files that the first one moved.
    func beginRun() {
        state.withLock { state in
            state.orphans.formUnion(state.moved)
            state.moved = []
        }
    }
}

extension BlobFiles {
    /// Moves a blob's file aside. Blocks. Call within a transaction, so that no other process can reference the blob.
    ///
    /// - Parameters:
    ///   - digest: the blob's.
    ///   - times: when the file may have been made, in milliseconds since 1970.
    ///   - moved: notes the file.
    /// - Returns: false if the file is too young or too old, or another store's, and stays.
    /// - Throws: `Errno`.
    func moveAside(_ digest: BlobDigest, madeIn times: ClosedRange<Int64>, noting moved: MovedFiles) throws -> Bool {
        guard others() == nil else { return false }
        let (place, aside) = (directory.blobFile(digest), directory.removedBlob(digest, by: moved.remover))
        if rename(place, aside) != 0 {
            guard errno == ENOENT else { throw Errno() }
            // Moved by an earlier run of this transaction, or lost before; there is nothing to keep.
            moved.add(digest)
            return true
        }
        var status = stat()
        guard stat(aside, &status) == 0 else { throw Errno() }
        guard times.contains(status.modifiedAt) else {
            try putBack(digest, moved)
            return false
        }
        moved.add(digest)
        return true
    }

    /// Deletes the moved files after the commit.
    func remove(_ moved: MovedFiles) {
        for digest in moved.digests { unlink(directory.removedBlob(digest, by: moved.remover)) }
        for digest in moved.orphans { try? putBack(digest, moved) }
    }

    /// Restores the moved files after a failure. Errors are ignored in favour of that failure; no referenced row needs
    /// a file that stays aside.
    func moveBack(_ moved: MovedFiles) {
        for digest in moved.digests + moved.orphans { try? putBack(digest, moved) }
    }

    /// Never overwrites a file created in the meantime: it has the same bytes, and its age protects its writer.
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
