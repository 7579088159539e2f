internal import CameoModel
internal import CameoStore
internal import CameoSystem
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

struct BlobFolder: Sendable {
    /// The digests of its files, sorted.
    var digests: [BlobDigest] = []
    /// The lost blobs whose bytes misplaced files contain, by the files' paths within the store's folder.
    var misplaced: [String: BlobDigest] = [:]
    /// Entries that Cameo did not create, or not in that form, and what is wrong with the folder itself.
    var problems: [String] = []
}

extension BlobFiles {
    /// The names of the folders of `blobs/`, after an empty one for itself.
    func folders() async throws(StoreError) -> [String] {
        try await perform { directory in
            let entries = (try? StoreAccess.entries(of: "\(directory.blobs)/.")) ?? []
            return [""] + entries.filter { $0.type == DT_DIR && Self.isFolder($0.name) }.map(\.name)
        }
    }

    /// What one of these has. Reads only files whose names match lost blobs.
    func folder(_ name: String, missing lost: LostBlobs = [:]) async throws(StoreError) -> BlobFolder {
        try await perform { [self] _ in
            var folder = BlobFolder()
            let path = name.isEmpty ? "blobs" : "blobs/\(name)"
            for entry in list(path, &folder.problems) {
                let place = "\(path)/\(entry.name)"
                let missed = entry.type == DT_REG ? lost[entry.name[...]].flatMap { holds(place, $0) ? $0 : nil } : nil
                if let missed { folder.misplaced[place] = missed }
                if entry.type == DT_REG, !name.isEmpty, let digest = BlobDigest(hex: name + entry.name) {
                    folder.digests.append(digest)
                } else if !Self.isOwn(entry, in: name) {
                    folder.problems.append(missed.map { Self.misplaced(place, $0) } ?? Self.foreign(place, entry.type))
                }
            }
            return folder
        }
    }

    /// Whether a file that is not in a blob's place has its bytes.
    private func holds(_ path: String, _ digest: BlobDigest) -> Bool {
        let file = "\(directory.path)/\(path)"
        guard file != directory.blobFile(digest), let data = try? Self.contents(of: file) else { return false }
        return BlobDigest(of: data) == digest
    }

    /// Moves a synced file to the blob's proper place. Blocks.
    ///
    /// - Throws: `Errno`
    func putBack(_ path: String, as digest: BlobDigest) throws {
        try bytes.move("\(directory.path)/\(path)", as: digest)
    }

    /// The path of a blob within the store's folder.
    static func path(of digest: BlobDigest) -> String { "blobs/\(digest.path)" }

    /// Lists a folder and checks the folder itself.
    private func list(_ path: String, _ problems: inout [String]) -> [FolderEntry] {
        // An operator may have moved all of `blobs/` to another disk through a link.
        let full = path == "blobs" ? "\(directory.blobs)/." : "\(directory.path)/\(path)"
        // In a shared store, where other users create folders too, the store-wide check covers this.
        if !StoreAccess.isShared(directory.path), let owner = Self.owner(of: full),
            let expected = Self.owner(of: directory.path), owner != expected
        {
            problems.append(
                "the folder \(path) belongs to user \(owner), the store to user \(expected): change it back with `chown -R`"
            )
        }
        do throws(Errno) {
            return try StoreAccess.entries(of: full)
        } catch {
            problems.append("the folder \(path) cannot be read: \(error)")
            return []
        }
    }

    private static func owner(of path: String) -> UInt32? {
        StoreAccess.status(of: path, followingLinks: false)?.st_uid
    }

    private static func isFolder(_ name: String) -> Bool { name == "tmp" || BlobDigest.isFolder(name) }

    /// Whether an entry that is no blob is one of Cameo's.
    private static func isOwn(_ entry: FolderEntry, in folder: String) -> Bool {
        switch (folder, entry.type) {
        case ("", DT_DIR): isFolder(entry.name)
        case ("", DT_REG): entry.name == DigestFiles.owner
        case ("tmp", DT_REG): StoreDirectory.isUnfinishedBlob(entry.name)
        default: false
        }
    }

    static func misplaced(_ path: String, _ digest: BlobDigest) -> String {
        "\(path) has the bytes of \(digest), whose own file is missing or damaged"
    }

    private static func foreign(_ path: String, _ type: Int) -> String {
        // Cameo creates no link, and the target may be on another disk or belong to somebody else.
        guard type != DT_LNK else { return "\(path) is a symbolic link: replace it with its target" }
        let noun = type == DT_REG ? "file" : type == DT_DIR ? "folder" : "special file"
        return "the \(noun) \(path) is not Cameo's: move it elsewhere"
    }

    /// Moves a blob's file aside. Blocks. Call within a transaction, so that no other process can reference the blob. Returns
    /// false if the file was not made in these times (in milliseconds since 1970) or is another store's, and stays.
    ///
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
        guard times.contains(Date(modificationOf: try FilePaths.status(of: Array(aside.utf8))).milliseconds) else {
            try putBack(digest, moved)
            return false
        }
        moved.add(digest)
        return true
    }

    /// Deletes the moved files after the commit.
    func remove(_ moved: MovedFiles) {
        for (digest, isOfLastRun) in moved.all {
            guard isOfLastRun else {
                try? putBack(digest, moved)
                continue
            }
            unlink(directory.removedBlob(digest, by: moved.remover))
        }
    }

    /// Restores the moved files after a failure. Errors are ignored in favour of that failure; no referenced row needs
    /// a file that stays aside.
    func moveBack(_ moved: MovedFiles) {
        for digest in moved.all.keys { try? putBack(digest, moved) }
    }

    /// Never overwrites a file created in the meantime: it has the same bytes, and its age protects its writer.
    private func putBack(_ digest: BlobDigest, _ moved: MovedFiles) throws {
        let aside = directory.removedBlob(digest, by: moved.remover)
        if link(aside, directory.blobFile(digest)) != 0, errno != EEXIST { throw Errno() }
        unlink(aside)
    }
}

/// The files that a removal transaction has moved aside.
final class MovedFiles: Sendable {
    /// Unique per removal, because one removal may start before the previous one has finished.
    let remover = UUID().uuidString
    /// Whether the transaction's last run has moved the file. One that only an earlier run moved may have been referenced by
    /// another process in between.
    private let moved = Mutex<[BlobDigest: Bool]>([:])

    var all: [BlobDigest: Bool] { moved.withLock { $0 } }

    func add(_ digest: BlobDigest) { moved.withLock { $0[digest] = true } }

    /// Starts a run. A transaction may run twice; the second run finds the files that the first one moved.
    func beginRun() { moved.withLock { $0 = $0.mapValues { _ in false } } }
}
