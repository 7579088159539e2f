package import CameoModel
package import CameoSystem
package import Foundation
internal import Glibc
internal import Synchronization

// DESIGN. Bytes are durable before the transaction that references them (invariant I2): they are written under a temporary
// name, synced, renamed to their digest, and their folder is synced. A crash in between leaves an orphaned file, or one with
// a temporary name. Overwriting an existing file is harmless (same bytes) and renews its age, which protects it from
// collection.

/// Files named by the digest of their bytes: `ab/cdef…` in a folder, and `tmp/` for what is being written. Every call blocks.
package final class DigestFiles: Sendable {
    /// The name of the file, or object, with the mark of the store that owns the bytes.
    package static let owner = "cameo-owner"

    package let folder: String
    private let isShared: @Sendable (mode_t) -> Bool
    /// Folders whose entry is known to be durable.
    private let syncedFolders = Mutex<Set<String>>([])

    /// The access of the folder decides about what is made in it, not the mask of the program that happens to make it:
    /// `isShared` tells by its mode whether that is for the folder's group too.
    package init(in folder: String, sharedBy isShared: @escaping @Sendable (mode_t) -> Bool) {
        (self.folder, self.isShared) = (folder, isShared)
    }

    package var unfinished: String { "\(folder)/tmp" }
    private func parent(of digest: BlobDigest) -> String { "\(folder)/\(digest.hex.prefix(2))" }
    package func path(of digest: BlobDigest) -> String { "\(folder)/\(digest.path)" }

    package func makeFolder(_ path: String) throws(Errno) {
        let own = try FilePaths.status(of: Array(folder.utf8)).st_mode
        let (plain, group): (mode_t, mode_t) = (isShared(own) ? 0o770 : 0o700, own & 0o2000)
        guard mkdir(path, plain) == 0 else {
            if errno == EEXIST { return }
            throw Errno()
        }
        guard try FilePaths.status(of: Array(path.utf8)).st_mode & 0o7777 != plain | group else { return }
        // A service may be forbidden to set the set-group-ID bit (systemd's RestrictSUIDSGID), which is inherited anyway.
        guard chmod(path, plain | group) == 0 || chmod(path, plain) == 0 else { throw Errno() }
    }

    // MARK: - Writing

    /// Writes bytes in place of any that are there.
    package func write(_ data: Data, as digest: BlobDigest) throws(Errno) {
        try makeFolder(parent(of: digest))
        try write(data, to: path(of: digest))
        try syncFolder(of: digest)
    }

    /// Moves a synced file to the place of a digest's, durably.
    package func move(_ path: String, as digest: BlobDigest) throws(Errno) {
        try makeFolder(parent(of: digest))
        guard rename(path, self.path(of: digest)) == 0 else { throw Errno() }
        try syncFolder(of: digest)
    }

    /// Makes the name of a file durable, and that of its folder.
    package func syncFolder(of digest: BlobDigest) throws(Errno) {
        let parent = parent(of: digest)
        try FilePaths.sync(parent)
        // For an existing folder too: whoever made it may have died before.
        guard !syncedFolders.withLock({ $0.contains(parent) }) else { return }
        try FilePaths.sync(folder)
        _ = syncedFolders.withLock { $0.insert(parent) }
    }

    /// Writes a file under a temporary name, syncs it and gives it its own, unless that is taken and not to be replaced.
    package func write(_ data: Data, to path: String, replacing: Bool = true) throws(Errno) {
        let mode: mode_t = isShared(try FilePaths.status(of: Array(folder.utf8)).st_mode) ? 0o660 : 0o600
        let temporary = "\(unfinished)/\(UUID().uuidString)"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try OpenFile(opened: Glibc.open(temporary, flags, mode))
        var isLeft = true
        defer { if isLeft { unlink(temporary) } }
        // What a mask removed.
        guard (file.status()?.st_mode ?? 0) & 0o777 == mode || fchmod(file.descriptor, mode) == 0 else { throw Errno() }
        try file.write(data)
        guard fsync(file.descriptor) == 0 else { throw Errno() }
        if replacing {
            guard rename(temporary, path) == 0 else { throw Errno() }
            isLeft = false
        } else {
            // A link never takes another's place.
            guard link(temporary, path) == 0 || errno == EEXIST else { throw Errno() }
        }
    }

    /// The mark of the store that owns the bytes; nil if none has left one.
    package func owner() throws(Errno) -> String? {
        guard let file = try OpenFile.existing("\(folder)/\(Self.owner)", O_RDONLY | O_NOFOLLOW) else { return nil }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_024, alignment: 1)
        defer { buffer.deallocate() }
        return String(decoding: buffer[..<(try file.read(into: buffer, from: 0))], as: UTF8.self)
    }

    /// Leaves the mark of a store, if there is none or it is to be replaced.
    package func setOwner(_ mark: String, replacing: Bool) throws(Errno) {
        try write(Data(mark.utf8), to: "\(folder)/\(Self.owner)", replacing: replacing)
        try FilePaths.sync(folder)
    }

    /// Removes unfinished files that were last written before a time, and returns their number.
    ///
    /// - Throws: the first error, after all others have been removed.
    @discardableResult
    package func removeUnfinished(
        before time: Date,
        where isOwn: (String) -> Bool = { UUID(uuidString: $0) != nil }
    ) throws(Errno) -> Int {
        var (removed, failure) = (0, Errno?.none)
        for (name, _) in try FilePaths.entries(in: unfinished) where isOwn(name) {
            let path = "\(unfinished)/\(name)"
            // One that is gone was finished, or removed by another process.
            guard let status = try? FilePaths.status(of: Array(path.utf8), followingLinks: false),
                Date(modificationOf: status) < time
            else { continue }
            if unlink(path) == 0 { removed += 1 } else if errno != ENOENT { failure = failure ?? Errno() }
        }
        if let failure { throw failure }
        return removed
    }
}

extension Date {
    /// When a file was last written.
    package init(modificationOf status: stat) {
        self.init(timeIntervalSince1970: Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9)
    }
}
