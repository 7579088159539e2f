internal import CameoModel
internal import CameoSystem
internal import Glibc
internal import Synchronization

/// Keeps `file:` away from the store's own files.
///
/// DESIGN: closing any descriptor of SQLite's files drops the POSIX locks that the process holds on them, and then
/// acknowledged writes can be lost. So a candidate is opened with O_PATH, which is harmless. The candidate and every folder
/// above it are compared by identity (device and inode) with the store's folder and the files directly in it and among its
/// locks. That detects hard links, bind mounts and a renamed store; a comparison of paths would not. The folders are listed
/// anew only when their times say that they have changed, since listing them takes four per cent of a small picture's time.
final class StoreFence: Sendable {
    private static let slash = UInt8(ascii: "/")

    private let directory: OpenFile
    /// What was listed, and when the folders had last changed then, in nanoseconds since 1970.
    private let listing = Mutex<(changes: [Int64], identities: Set<FileIdentity>)?>(nil)

    init(around path: String) throws(FetchConfigurationError) {
        do throws(Errno) {
            directory = try OpenFile.directory(Array(path.utf8))
        } catch {
            throw .store(path: path, error)
        }
    }

    /// Whether a file, opened with O_PATH, is one of the store's or lies in one of its folders.
    ///
    /// - Throws: the errno of a failed check; the candidate must then not be opened.
    func encloses(_ candidate: OpenFile) throws(Errno) -> Bool {
        guard let status = candidate.status() else { throw Errno(EBADF) }
        let own = try identities()
        guard !own.contains(FileIdentity(status)) else { return true }
        var path = try candidate.path()
        while let slash = path.lastIndex(of: Self.slash) {
            path = Array(path[..<slash])
            if own.contains(try Self.identity(path.isEmpty ? [Self.slash] : path)) { return true }
        }
        return false
    }

    /// The identities at this moment: SQLite creates and removes `-wal` and `-shm` at any time.
    private func identities() throws(Errno) -> Set<FileIdentity> {
        let changes = try changes()
        if let listing = listing.withLock({ $0 }), listing.changes == changes { return listing.identities }
        let identities = try listed()
        // A folder that has just changed may change again within the same tick of the clock.
        let isSettled = changes.allSatisfy { Self.now - $0 > 2_000_000_000 }
        if isSettled { listing.withLock { $0 = (changes, identities) } }
        return identities
    }

    private func listed() throws(Errno) -> Set<FileIdentity> {
        guard let status = directory.status() else { throw Errno(EBADF) }
        var identities = try Self.identities(in: directory.magicLink)
        identities.insert(FileIdentity(status))
        do throws(Errno) {
            identities.formUnion(try Self.identities(in: workers))
        } catch {
            guard error.code == ENOENT else { throw error }  // no worker has created it yet
        }
        return identities
    }

    private var workers: String { directory.magicLink + "/workers" }

    /// When the store's folder and that of its workers' locks last changed, in nanoseconds since 1970.
    private func changes() throws(Errno) -> [Int64] {
        guard let status = directory.status() else { throw Errno(EBADF) }
        var ofWorkers = stat()
        // Without it there is one change to compare; its creation changes the folder above it.
        guard stat(workers, &ofWorkers) == 0 else { return [Self.nanoseconds(status.st_ctim)] }
        return [status.st_ctim, ofWorkers.st_ctim].map(Self.nanoseconds)
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func identities(in folder: String) throws(Errno) -> Set<FileIdentity> {
        var identities: Set<FileIdentity> = []
        // Behind the slash, a link to the folder is followed.
        for (name, _) in try FilePaths.entries(in: "\(folder)/.") {
            do throws(Errno) {
                identities.insert(try identity(Array("\(folder)/\(name)".utf8)))
            } catch {
                // Removed since it was listed, or not named in UTF-8, as all of the store's own files are.
                guard error.code == ENOENT || error.code == ENAMETOOLONG else { throw error }
            }
        }
        return identities
    }

    private static func identity(_ path: [UInt8]) throws(Errno) -> FileIdentity {
        FileIdentity(try FilePaths.status(of: path, followingLinks: false))
    }
}

/// Identifies a file independently of its path.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt
    private let inode: UInt

    init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
    }
}
