internal import CameoModel
internal import CameoStore
internal import Foundation

// DESIGN. `blobs/` is walked once, a folder at a time, by what the folders themselves say: names and kinds, so that a
// million blobs cost 256 listings and no look at a file. Only a file that lies in a wrong place, and may be one that is
// missed, is read. Nothing is followed or entered that is not a folder of Cameo's own naming.

/// One of the 256 folders of `blobs/`.
struct BlobFolder: Sendable {
    /// The first two digits of the digests whose files lie in it.
    let prefix: String
    /// Those of its files, in their order.
    let digests: [BlobDigest]
    /// What else is in it, or wrong with it.
    let unexpected: [UnexpectedEntry]
}

/// Blobs whose files are missing or damaged.
struct LostBlobs: Sendable {
    private var digests: [String: BlobDigest] = [:]

    init(_ lost: [BlobDigest]) {
        for digest in lost {
            // As a file of it is called that came into another folder, and as one that somebody named in full.
            digests[String(digest.hex.dropFirst(2))] = digest
            digests[digest.hex] = digest
        }
    }

    /// The one whose file may be called so.
    func digest(called name: Substring) -> BlobDigest? { digests[String(name)] }
}

extension BlobFiles {
    /// The folders of blobs that are there, by their first digits, and what else is in `blobs/` and in `blobs/tmp`.
    func folders() async throws(StoreError) -> (prefixes: [String], unexpected: [UnexpectedEntry]) {
        try await perform { [self] _ in listFolders() }
    }

    func folder(_ prefix: String) async throws(StoreError) -> BlobFolder {
        try await perform { [self] _ in listFolder(prefix) }
    }

    /// The lost blob that a file in a wrong place has the bytes of. Reads the file if its name may be that of one.
    func found(_ path: String, among lost: LostBlobs) async throws(StoreError) -> BlobDigest? {
        guard let name = path.split(separator: "/").last, let digest = lost.digest(called: name) else { return nil }
        return try await perform { directory in
            let file = "\(directory.path)/\(path)"
            guard file != directory.blobFile(digest), let data = try? Self.contents(of: file) else { return nil }
            return SHA256.digest(of: data) == digest ? digest : nil
        }
    }

    /// Makes the bytes of a file durable, by its path within the store's folder: whoever copied it there need not have.
    ///
    /// - Returns: false if it cannot be opened or synced.
    func makeDurable(_ path: String) async throws(StoreError) -> Bool {
        try await perform { directory in
            let descriptor = open("\(directory.path)/\(path)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            let file = OpenFile(adopting: descriptor)
            return withExtendedLifetime(file) { fsync(file.descriptor) == 0 }
        }
    }

    /// Moves a file whose bytes are durable to where the blob is looked for. Blocks.
    ///
    /// - Throws: `Errno`
    func putBack(_ path: String, as digest: BlobDigest) throws {
        try move("\(directory.path)/\(path)", to: directory.blobFile(digest))
    }

    private func listFolders() -> (prefixes: [String], unexpected: [UnexpectedEntry]) {
        var (prefixes, unexpected) = ([String](), [UnexpectedEntry]())
        let entries = list("blobs", &unexpected)
        for entry in entries {
            switch entry.kind {
            case .folder where entry.name == "tmp": break
            case .folder where Self.isPrefix(entry.name): prefixes.append(entry.name)
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

    private func listFolder(_ prefix: String) -> BlobFolder {
        let path = "blobs/\(prefix)"
        var (digests, unexpected) = ([BlobDigest](), [UnexpectedEntry]())
        for entry in list(path, &unexpected) {
            if entry.kind == .file, let digest = BlobDigest(hex: prefix + entry.name) {
                digests.append(digest)
            } else {
                unexpected.append(Self.unexpected(entry, in: path))
            }
        }
        return BlobFolder(prefix: prefix, digests: digests, unexpected: unexpected)
    }

    /// Its path within the store's folder.
    static func path(of digest: BlobDigest) -> String { "blobs/\(digest.hex.prefix(2))/\(digest.hex.dropFirst(2))" }

    /// Looks at the folder itself too.
    private func list(_ path: String, _ unexpected: inout [UnexpectedEntry]) -> [FolderEntry] {
        do throws(Errno) {
            // An operator may have put all of `blobs/` on another disk, by a link.
            let full = path == "blobs" ? "\(directory.blobs)/." : "\(directory.path)/\(path)"
            // In a shared store, where others make folders too, the check of the whole has more to say.
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
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    private static func unexpected(_ entry: FolderEntry, in folder: String) -> UnexpectedEntry {
        UnexpectedEntry(
            path: "\(folder)/\(entry.name)",
            kind: entry.kind,
            fault: entry.kind == .link ? .link : .foreign
        )
    }

    /// Two lower-case hexadecimal digits.
    private static func isPrefix(_ name: String) -> Bool {
        BlobDigest(hex: name + String(repeating: "0", count: 62)) != nil
    }
}
