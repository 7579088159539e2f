internal import CameoModel
internal import CameoSystem
internal import CommandSupport
internal import Foundation

/// The pictures and videos in a folder, recognised by their first bytes rather than their names.
///
/// Names that begin with a dot are skipped, as by a shell's `*`, and so is the store's own folder. Links to files count
/// as files; links to folders are not followed, so every walk ends.
struct PictureTree {
    /// Which folders a walk enters.
    enum Depth {
        case folderOnly, everythingBelow
    }

    /// The absolute paths of the pictures, in byte order if they were found by a walk.
    private(set) var pictures: [[UInt8]] = []
    /// The absolute paths of the videos, until it is settled whether they count as pictures.
    private(set) var videos: [[UInt8]] = []
    /// The files that are skipped.
    private(set) var others: [FileNotices.Notice] = []

    var paths: [[UInt8]] { pictures + videos + others.map(\.path) }

    /// Looks at files; what is gone, or a folder, is left out.
    init(of paths: [[UInt8]]) { for path in paths { _ = take(path) } }

    /// Walks the tree below an absolute path, and calls `enter` with each folder before it is listed. A subfolder that
    /// disappears during the walk is skipped.
    ///
    /// - Throws: ``CommandFailure`` for any other folder that cannot be listed.
    init(
        _ folder: [UInt8],
        _ depth: Depth,
        leavingOut store: [UInt8],
        entering enter: ([UInt8]) throws -> Void = { _ in }
    ) throws {
        let progress = StatusLine()
        defer { progress.finish() }
        var folders = [folder]
        while let next = folders.popLast() {
            guard !Self.areOne(next, store) else { continue }
            try enter(next)
            guard let entries = try Self.list(next) else {
                guard next != folder else { throw Self.failure(folder, Errno(ENOENT)) }
                continue
            }
            for name in entries {
                let path = next + [UInt8(ascii: "/")] + name
                if case .folder = take(path), depth == .everythingBelow { folders.append(path) }
            }
            progress.show("looking for pictures: \(pictures.count), and \(others.count) other files")
        }
        pictures.sort { $0.lexicographicallyPrecedes($1) }
        others.sort { $0.path.lexicographicallyPrecedes($1.path) }
    }

    private mutating func take(_ path: [UInt8]) -> FoundFile {
        let file = FoundFile(path)
        switch file {
        case .picture: pictures.append(path)
        case .video: videos.append(path)
        case .other(let reason): others.append((path, reason))
        case .folder, .nothing: break
        }
        return file
    }

    /// Counts the videos as pictures, after these, or skips them, because jobs that no worker can do would only fail.
    mutating func settleVideos(makeFrames: Bool) {
        if makeFrames {
            pictures += videos
        } else {
            others += videos.map { ($0, "a video, and no live worker is known to make frames") }
        }
        videos = []
    }

    /// Whether a folder has nothing in it but names that begin with a dot, is gone, or cannot be read.
    static func isEmpty(_ folder: [UInt8]) -> Bool { (try? list(folder))?.isEmpty ?? true }

    private static func areOne(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        guard let one = try? FilePaths.status(of: first), let other = try? FilePaths.status(of: second) else {
            return false
        }
        return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    }

    /// The names in a folder, without those that begin with a dot; nil if the folder is gone.
    private static func list(_ folder: [UInt8]) throws(CommandFailure) -> [[UInt8]]? {
        guard let stream = opendir(folder.map(CChar.init(bitPattern:)) + [0]) else {
            let error = Errno()
            guard error.code == ENOENT || error.code == ENOTDIR else { throw failure(folder, error) }
            return nil
        }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name.first != UInt8(ascii: ".") { names.append(name) }
        }
        return names
    }

    private static func failure(_ folder: [UInt8], _ error: Errno) -> CommandFailure {
        CommandFailure("the folder \(FilePaths.readable(folder)) cannot be read: \(error)", .usage)
    }
}
