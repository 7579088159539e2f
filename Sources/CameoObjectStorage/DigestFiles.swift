internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation
internal import Glibc
internal import Synchronization

/// The files of a shared folder: `ab/cdef…` for a digest, and `tmp/` for what is being written. Every call blocks.
final class DigestFiles: Sendable {
    static let mark = "cameo-bytes"
    /// The name of the file, or object, with the mark of the store that owns the bytes.
    static let owner = "cameo-owner"
    private static let marking =
        "Cameo keeps bytes here by their SHA-256. This file shows that the folder is mounted.\n"

    let folder: String
    /// Folders whose entry is known to be durable.
    private let syncedFolders = Mutex<Set<String>>([])

    init(folder: String) { self.folder = folder }

    var unfinished: String { "\(folder)/tmp" }
    private func parent(of digest: BlobDigest) -> String { "\(folder)/\(digest.hex.prefix(2))" }
    func path(of digest: BlobDigest) -> String { "\(folder)/\(digest.path)" }

    // MARK: - The folder

    /// Whether the folder is the one in which the mark was made.
    var isMarked: Bool { access("\(folder)/\(Self.mark)", F_OK) == 0 }

    var notMounted: StoreError {
        .unreachable(location: folder, reason: "it is without its mark, the file \(Self.mark): is it mounted?")
    }

    /// Marks an empty folder; does nothing in a marked one.
    ///
    /// - Throws: `Errno`: `ENOTEMPTY` for a folder with anything else in it.
    func create() throws(Errno) {
        if isMarked { return }
        // Another host may be creating it too.
        let known: Set = [Self.mark, Self.owner, "tmp", "lost+found", ".snapshot"]
        guard try FilePaths.entries(in: folder).allSatisfy({ known.contains($0.name) || $0.name.hasPrefix(".nfs") })
        else { throw Errno(ENOTEMPTY) }
        try makeFolder(unfinished)
        try write(Data(Self.marking.utf8), to: "\(folder)/\(Self.mark)")
        try FilePaths.sync(folder)
    }

    /// The access of the folder decides about what is made in it, not the mask of the program that happens to make it:
    /// group members may do what its owner may if they may write to the folder.
    private func mode(execute: Bool) throws(Errno) -> mode_t {
        let status = try FilePaths.status(of: Array(folder.utf8))
        let group: mode_t = status.st_mode & 0o020 != 0 ? 0o660 : 0o600
        return execute ? group | (group & 0o440) >> 2 | (status.st_mode & 0o2000) : group
    }

    private func makeFolder(_ path: String) throws(Errno) {
        let mode = try mode(execute: true)
        guard mkdir(path, mode & 0o777) == 0 else {
            if errno == EEXIST { return }
            throw Errno()
        }
        // A service may be forbidden to set the set-group-ID bit (systemd's RestrictSUIDSGID), which is inherited anyway.
        guard try FilePaths.status(of: Array(path.utf8)).st_mode & 0o7777 != mode else { return }
        guard chmod(path, mode) == 0 else { throw Errno() }
    }

    func owner() throws(Errno) -> String? {
        guard let file = try OpenFile.existing("\(folder)/\(Self.owner)", O_RDONLY | O_NOFOLLOW) else { return nil }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_024, alignment: 1)
        defer { buffer.deallocate() }
        return String(decoding: buffer[..<(try file.read(into: buffer, from: 0))], as: UTF8.self)
    }

    func setOwner(_ mark: String, replacing: Bool) throws(Errno) {
        try write(Data(mark.utf8), to: "\(folder)/\(Self.owner)", replacing: replacing)
        try FilePaths.sync(folder)
    }

    // MARK: - Writing

    /// Writes bytes in place of any that are there.
    func write(_ data: Data, as digest: BlobDigest) throws(Errno) {
        try makeFolder(parent(of: digest))
        try write(data, to: path(of: digest))
        try syncFolder(of: digest)
    }

    /// Makes the name of a file durable, and that of its folder.
    func syncFolder(of digest: BlobDigest) throws(Errno) {
        let parent = parent(of: digest)
        try FilePaths.sync(parent)
        // For an existing folder too: whoever made it may have died before.
        guard !syncedFolders.withLock({ $0.contains(parent) }) else { return }
        try FilePaths.sync(folder)
        _ = syncedFolders.withLock { $0.insert(parent) }
    }

    /// Writes a file under a temporary name, syncs it and gives it its own, unless that is taken and not to be replaced.
    private func write(_ data: Data, to path: String, replacing: Bool = true) throws(Errno) {
        let mode = try mode(execute: false)
        let temporary = "\(unfinished)/\(UUID().uuidString)"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try OpenFile(opened: Glibc.open(temporary, flags, mode))
        defer { unlink(temporary) }
        guard fchmod(file.descriptor, mode) == 0 else { throw Errno() }
        try file.write(data)
        guard fsync(file.descriptor) == 0 else { throw Errno() }
        // A link never takes another's place.
        guard (replacing ? rename(temporary, path) : link(temporary, path)) == 0 || !replacing && errno == EEXIST else {
            throw Errno()
        }
    }

    func remove(_ digest: BlobDigest) throws(Errno) {
        guard unlink(path(of: digest)) == 0 || errno == ENOENT else { throw Errno() }
    }

    // MARK: - Reading

    /// Opens a file; nil if there is none.
    func open(_ digest: BlobDigest) throws(Errno) -> OpenFile? {
        // The second time after the folder was opened: see DESIGN.
        for isLast in [false, true] {
            if let file = try OpenFile.existing(path(of: digest), O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { return file }
            guard !isLast else { break }
            let parent = Glibc.open(parent(of: digest), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if parent >= 0 { close(parent) }
        }
        return nil
    }

    /// The size in bytes; nil if there is no file.
    func size(of digest: BlobDigest) throws(Errno) -> Int? {
        guard let file = try open(digest) else { return nil }
        guard let status = file.status() else { throw Errno() }
        return Int(status.st_size)
    }

    /// A page of the files in the order of their digests. What else is in the folder is on the first page, and what else is
    /// in one of its folders stands between that folder's files. The cursor is a file's path within the folder, after which
    /// the page begins; empty for the first page.
    func page(after cursor: String, limit: Int) throws(Errno) -> StoredObjectPage {
        var page = StoredObjectPage()
        var (last, examined) = (cursor, 0)
        for (name, _) in try FilePaths.entries(in: folder) where ![Self.mark, Self.owner, "tmp"].contains(name) {
            guard let entries = try entries(of: name) else {
                if cursor.isEmpty { page.foreign.append(name) }
                continue
            }
            guard name >= cursor.prefix(2) else { continue }
            for path in entries.lazy.map({ "\(name)/\($0)" }) where path > cursor {
                guard examined < limit else {
                    page.next = last
                    return page
                }
                examined += 1
                last = path
                try add(path, to: &page)
            }
        }
        return page
    }

    /// The names in a folder for digests; nil for anything else.
    private func entries(of name: String) throws(Errno) -> [String]? {
        guard BlobDigest.isFolder(name) else { return nil }
        do throws(Errno) {
            return try FilePaths.entries(in: "\(folder)/\(name)").map(\.name)
        } catch {
            guard error.code == ENOTDIR else { throw error }
            return nil
        }
    }

    private func add(_ path: String, to page: inout StoredObjectPage) throws(Errno) {
        var status = stat()
        guard lstat("\(folder)/\(path)", &status) == 0 else {
            // Removed since.
            if errno == ENOENT { return }
            throw Errno()
        }
        guard status.st_mode & S_IFMT == S_IFREG, let digest = BlobDigest(path: path) else {
            page.foreign.append(path)
            return
        }
        page.objects.append(StoredObject(digest: digest, size: Int(status.st_size), storedAt: status.modifiedAt))
    }

    /// Removes unfinished files that were last written before a time, and returns their number.
    func removeUnfinished(before time: Date) throws(Errno) -> Int {
        var removed = 0
        for (name, _) in try FilePaths.entries(in: unfinished) where UUID(uuidString: name) != nil {
            let path = "\(unfinished)/\(name)"
            var status = stat()
            // One that is gone was finished, or removed by another host.
            guard lstat(path, &status) == 0, status.modifiedAt < time else { continue }
            guard unlink(path) == 0 else {
                if errno == ENOENT { continue }
                throw Errno()
            }
            removed += 1
        }
        return removed
    }
}

extension stat {
    fileprivate var modifiedAt: Date {
        Date(timeIntervalSince1970: Double(st_mtim.tv_sec) + Double(st_mtim.tv_nsec) / 1e9)
    }
}
