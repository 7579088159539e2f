internal import CameoModel
internal import CameoSystem
internal import CommandSupport
internal import Foundation

// DESIGN. The kernel reports the events in a folder (inotify(7)). A picture is complete when its writer closes it, or
// moves or links it into place; a file that is still being written is reported later. Events are collected until a
// quarter of a second passes without one, and only files that still exist under their names count: a download that is
// renamed when it is complete is one picture. A new folder is watched first and then walked. When the kernel drops
// events, all folders are walked again for files changed since the last moment without a drop; only that moment is
// remembered. What was deleted is left to whoever knows what was there.
//
// Waiting blocks, so it runs on a thread of its own; once that thread has started, nothing else uses the value.
struct FolderWatch {
    private static let gathering: Int32 = 250
    private static let longestGathering = 2_000

    private let descriptor: OpenFile
    private let roots: [[UInt8]]
    private let depth: PictureTree.Depth
    private let store: [UInt8]
    private var folders: [Int32: [UInt8]] = [:]
    private var found: [[UInt8]] = []
    private var deleted: [[UInt8]] = []
    /// The last time up to which no events were dropped.
    private var complete = Date()

    /// Starts watching: no later event is missed. The roots are absolute paths of folders; the folder `store` is not
    /// watched.
    ///
    /// - Throws: ``CommandFailure`` for a folder that cannot be watched.
    init(_ roots: [[UInt8]], _ depth: PictureTree.Depth, leavingOut store: [UInt8]) throws {
        let descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        guard descriptor >= 0 else { throw CommandFailure("folders cannot be watched: \(Errno())", .failed) }
        self.descriptor = OpenFile(adopting: descriptor)
        (self.roots, self.depth, self.store) = (roots, depth, store)
        for root in roots { _ = try walk(root) }
    }

    var folderCount: Int { folders.count }

    /// New files, and absolute paths of deleted and renamed ones, and, with a slash at the end, of folders that lost some.
    struct Changes: Sendable {
        var files: PictureTree
        let deleted: [[UInt8]]
    }

    /// The changes, in batches. The stream ends only by throwing, normally a ``CommandFailure``.
    ///
    /// - Throws: the error of a thread that cannot be started.
    consuming func changes() throws(Errno) -> AsyncThrowingStream<Changes, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Changes.self)
        try BlockingThread.start("cameo-folders") { [self] in
            var watch = self
            do {
                while true { continuation.yield(try watch.next()) }
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return stream
    }

    // MARK: - Events

    private mutating func next() throws -> Changes {
        repeat {
            try gather()
        } while found.isEmpty && deleted.isEmpty
        defer { (found, deleted) = ([], []) }
        var seen: Set<[UInt8]> = []
        return Changes(files: PictureTree(of: found.filter { seen.insert($0).inserted }), deleted: deleted)
    }

    /// Waits for an event, then collects until none arrives for a quarter of a second, or for two seconds in all.
    private mutating func gather() throws {
        wait(-1)
        let begun = ContinuousClock.now
        let looked = Date()
        var dropped = false
        repeat {
            dropped = try take() || dropped
        } while begun.duration(to: .now) < .milliseconds(Self.longestGathering) && wait(Self.gathering)
        if dropped {
            // The clock behind file times lags by a few milliseconds.
            let since = complete.addingTimeInterval(-2)
            for root in roots { found += try walk(new: root).filter { Self.changed($0, since: since) } }
            deleted += roots.map { $0 + [UInt8(ascii: "/")] }
        }
        complete = looked
    }

    /// - Returns: false if no event arrived in time.
    @discardableResult
    private func wait(_ milliseconds: Int32) -> Bool {
        var events = PollSet(descriptor.descriptor)
        return events.wait(milliseconds: milliseconds)
    }

    /// Reads and handles the pending events.
    ///
    /// - Returns: whether events were dropped.
    private mutating func take() throws -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var dropped = false
        while case let count = read(descriptor.descriptor, &bytes, bytes.count), count > 0 {
            var rest = bytes[..<count]
            while !rest.isEmpty {
                let (event, name) = Self.event(&rest)
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { dropped = true } else { try handle(event, name) }
            }
        }
        return dropped
    }

    private static func event(_ bytes: inout ArraySlice<UInt8>) -> (inotify_event, [UInt8]) {
        let size = MemoryLayout<inotify_event>.size
        let event = bytes.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
        let name = bytes.dropFirst(size).prefix(Int(event.len)).prefix { $0 != 0 }
        bytes = bytes.dropFirst(size + Int(event.len))
        return (event, Array(name))
    }

    private mutating func handle(_ event: inotify_event, _ name: [UInt8]) throws {
        // Events may still arrive for a folder that is no longer watched.
        guard let folder = folders[event.wd] else { return }
        func happened(_ kinds: Int32...) -> Bool { kinds.contains { event.mask & UInt32(bitPattern: $0) != 0 } }
        if happened(Int32(IN_DELETE_SELF), Int32(IN_MOVE_SELF), Int32(IN_UNMOUNT), Int32(IN_IGNORED)),
            roots.contains(folder)
        {
            throw CommandFailure("the folder \(FilePaths.readable(folder)) is gone", .failed)
        }
        if happened(Int32(IN_IGNORED)) { folders[event.wd] = nil }
        guard !name.isEmpty, name.first != UInt8(ascii: ".") else { return }
        let path = folder + [UInt8(ascii: "/")] + name
        if happened(Int32(bitPattern: UInt32(IN_ISDIR))) {
            if happened(Int32(IN_MOVED_FROM)) { forget(path) }
            guard depth == .everythingBelow, happened(Int32(IN_CREATE), Int32(IN_MOVED_TO)) else { return }
            found += try walk(new: path).filter { !Self.isBeingWritten($0) }
        } else if happened(Int32(IN_MOVED_FROM), Int32(IN_DELETE)) {
            deleted.append(path)
        } else if happened(Int32(IN_CLOSE_WRITE), Int32(IN_MOVED_TO))
            || (happened(Int32(IN_CREATE)) && Self.isLink(path))
        {
            found.append(path)
        }
    }

    // MARK: - Folders

    /// Watches a folder, and those below it if `depth` includes them, each before it is listed.
    ///
    /// - Returns: the files found.
    private mutating func walk(_ folder: [UInt8]) throws -> [[UInt8]] {
        try PictureTree(folder, depth, leavingOut: store) { try watch($0) }.paths
    }

    /// Does the same for a new folder, which may be gone again or unreadable; such a folder is skipped.
    private mutating func walk(new folder: [UInt8]) throws -> [[UInt8]] {
        do {
            return try walk(folder)
        } catch let failure as CommandFailure where failure.status == .usage {
            return []
        }
    }

    private mutating func watch(_ folder: [UInt8]) throws(CommandFailure) {
        let kinds =
            IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF
        let mask = UInt32(kinds) | UInt32(IN_ONLYDIR)
        let watch = inotify_add_watch(descriptor.descriptor, folder.map(CChar.init(bitPattern:)) + [0], mask)
        guard watch >= 0 else {
            let error = Errno()
            let name = FilePaths.readable(folder)
            guard error.code == ENOSPC else {
                throw CommandFailure("the folder \(name) cannot be read: \(error)", .usage)
            }
            throw CommandFailure("\(name) cannot be watched: the limit fs.inotify.max_user_watches is reached", .failed)
        }
        folders[watch] = folder
    }

    /// Stops watching a folder that was moved away, and those below it.
    private mutating func forget(_ folder: [UInt8]) {
        let below = folder + [UInt8(ascii: "/")]
        if depth == .everythingBelow { deleted.append(below) }
        for (watch, path) in folders where path == folder || path.starts(with: below) {
            inotify_rm_watch(descriptor.descriptor, watch)
            folders[watch] = nil
        }
    }

    // MARK: - Files

    /// Whether a process has the file open for writing, in which case the kernel grants no read lease (fcntl(2),
    /// F_SETLEASE). Another user's file cannot be checked and counts as complete.
    private static func isBeingWritten(_ path: [UInt8]) -> Bool {
        let descriptor = open(path.map(CChar.init(bitPattern:)) + [0], O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        let file = OpenFile(adopting: descriptor)
        let setLease: Int32 = 1_024
        guard fcntl(file.descriptor, setLease, Int32(F_RDLCK)) != 0 else { return false }
        return errno == EAGAIN
    }

    /// Whether the path is a symbolic or hard link: a file that gains a second name was complete before.
    private static func isLink(_ path: [UInt8]) -> Bool {
        guard let status = try? FilePaths.status(of: path, followingLinks: false) else { return false }
        return status.st_nlink > 1 || status.st_mode & S_IFMT == S_IFLNK
    }

    private static func changed(_ path: [UInt8], since time: Date) -> Bool {
        guard let status = try? FilePaths.status(of: path) else { return false }
        return Double(status.st_ctim.tv_sec) + Double(status.st_ctim.tv_nsec) / 1e9 >= time.timeIntervalSince1970
    }
}
