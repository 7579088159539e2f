internal import CLinux
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. `blobs/` is scanned once, folder by folder, using only the names and types in the listings, so that a million
// blobs cost 256 listings and no file access. Only a misplaced file that may be a missing blob is read. No link is
// followed, and no folder is entered that Cameo did not name.

/// Blobs whose files are missing or damaged, by the names that such a file may have elsewhere: that of its place in another
/// folder, and the full digest as a user may have named it.
typealias LostBlobs = [Substring: BlobDigest]

extension LostBlobs {
    init(_ lost: [BlobDigest]) {
        self.init(lost.flatMap { [($0.hex.dropFirst(2), $0), ($0.hex[...], $0)] }, uniquingKeysWith: { $1 })
    }
}

extension BlobFiles {
    /// The prefixes of the blob folders, and unexpected entries in `blobs/` and `blobs/tmp`.
    func folders() async throws(StoreError) -> (prefixes: [String], unexpected: [UnexpectedEntry]) {
        try await perform { [self] _ in
            var (prefixes, unexpected) = ([String](), [UnexpectedEntry]())
            let entries = list("blobs", &unexpected)
            for entry in entries {
                switch entry.kind {
                case .folder where entry.name == "tmp": break
                case .folder where BlobDigest.isFolder(entry.name): prefixes.append(entry.name)
                case .file where entry.name == Self.ownerMark: break
                default: unexpected.append(Self.unexpected(entry, in: "blobs"))
                }
            }
            if entries.contains(FolderEntry(name: "tmp", kind: .folder)) {
                unexpected += list("blobs/tmp", &unexpected)
                    .filter { $0.kind != .file || !StoreDirectory.isUnfinishedBlob($0.name) }
                    .map { Self.unexpected($0, in: "blobs/tmp") }
            }
            return (prefixes, unexpected)
        }
    }

    /// One of the 256 folders of `blobs/`, which has the name of its digests' first two digits: the sorted digests of its
    /// files, other entries, and problems with the folder itself.
    func folder(_ prefix: String) async throws(StoreError) -> (digests: [BlobDigest], unexpected: [UnexpectedEntry]) {
        try await perform { [self] _ in
            let path = "blobs/\(prefix)"
            var (digests, unexpected) = ([BlobDigest](), [UnexpectedEntry]())
            for entry in list(path, &unexpected) {
                if entry.kind == .file, let digest = BlobDigest(hex: prefix + entry.name) {
                    digests.append(digest)
                } else {
                    unexpected.append(Self.unexpected(entry, in: path))
                }
            }
            return (digests, unexpected)
        }
    }

    /// The lost blob whose bytes a misplaced file contains. Reads the file only if its name matches a lost blob.
    func found(_ path: String, among lost: LostBlobs) async throws(StoreError) -> BlobDigest? {
        guard let name = path.split(separator: "/").last, let digest = lost[name] else { return nil }
        return try await perform { directory in
            let file = "\(directory.path)/\(path)"
            guard file != directory.blobFile(digest), let data = try? Self.contents(of: file) else { return nil }
            return SHA256.digest(of: data) == digest ? digest : nil
        }
    }

    /// Moves a synced file to the blob's proper place. Blocks.
    ///
    /// - Throws: `Errno`
    func putBack(_ path: String, as digest: BlobDigest) throws {
        try move("\(directory.path)/\(path)", to: directory.blobFile(digest))
    }

    /// The path of a blob within the store's folder.
    static func path(of digest: BlobDigest) -> String { "blobs/\(digest.path)" }

    /// Lists a folder and checks the folder itself.
    private func list(_ path: String, _ unexpected: inout [UnexpectedEntry]) -> [FolderEntry] {
        do throws(Errno) {
            // An operator may have moved all of `blobs/` to another disk through a link.
            let full = path == "blobs" ? "\(directory.blobs)/." : "\(directory.path)/\(path)"
            // In a shared store, where other users create folders too, the store-wide check covers this.
            if !StoreAccess.isShared(directory.path), let owner = Self.owner(of: full),
                let expected = Self.owner(of: directory.path), owner != expected
            {
                unexpected.append(UnexpectedEntry(path: path, kind: .folder, fault: .owned(by: owner, not: expected)))
            }
            return try FolderEntry.all(in: full)
        } catch {
            unexpected.append(UnexpectedEntry(path: path, kind: .folder, fault: .unreadable(error)))
            return []
        }
    }

    private static func owner(of path: String) -> UInt32? {
        StoreAccess.status(of: path, followingLinks: false)?.st_uid
    }

    private static func unexpected(_ entry: FolderEntry, in folder: String) -> UnexpectedEntry {
        UnexpectedEntry(
            path: "\(folder)/\(entry.name)",
            kind: entry.kind,
            fault: entry.kind == .link ? .link : .foreign
        )
    }
}

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
        guard times.contains(try FilePaths.status(of: Array(aside.utf8)).modifiedAt) else {
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
