internal import ArgumentParser
internal import CameoModel
internal import CameoSystem
internal import CommandSupport
internal import Foundation

/// The options for sources that are folders.
struct FolderOptions: ParsableArguments {
    @Flag(
        name: [.customShort("r"), .long],
        help: """
            Enqueue all pictures in and below each SOURCE that is a folder, recognised by their first bytes, and videos if a \
            live worker makes frames. What is skipped or was deleted is named on standard error, with --json all of it.
            """
    )
    var recursive = false

    @Flag(
        help: """
            Run until stopped, and enqueue each new picture or video in the folders given as SOURCE once it is complete. \
            With -r, enqueue the existing ones first, and watch subfolders too.
            """
    )
    var watch = false

    @Flag(help: "With -r or --watch: forget the thumbnails of deleted and renamed files, if their folder is not empty.")
    var forgetDeleted = false

    func validate() throws {
        guard recursive || watch || !forgetDeleted else {
            throw ValidationError("--forget-deleted needs a folder: add -r or --watch")
        }
    }

    var depth: PictureTree.Depth { recursive ? .everythingBelow : .folderOnly }

    /// The sources, with each folder replaced by the pictures in and below it if `--recursive` was given. The folder
    /// `store` is skipped. `makeFrames` tells whether videos count as pictures.
    func expanded(
        _ sources: [SourceArgument],
        store: [UInt8],
        _ notices: FileNotices,
        makeFrames: () async throws -> Bool
    ) async throws -> [SourceArgument] {
        // Of folders that are only watched nothing is there to enqueue.
        guard recursive else { return watch ? [] : sources }
        var result: [SourceArgument] = []
        for source in sources {
            guard let folder = Self.folder(source) else {
                result.append(source)
                continue
            }
            var tree = try PictureTree(folder, depth, leavingOut: store)
            if !tree.videos.isEmpty { tree.settleVideos(makeFrames: try await makeFrames()) }
            try notices.tell(.skipped, tree.others)
            guard !tree.pictures.isEmpty || watch else {
                throw CommandFailure("\(source.name): contains no pictures", .usage)
            }
            result += tree.pictures.map { SourceArgument($0) }
        }
        return result
    }

    /// The absolute paths of those sources that are folders of pictures.
    func roots(of sources: [SourceArgument]) -> [[UInt8]] { recursive || watch ? sources.compactMap(Self.folder) : [] }

    /// The absolute paths of the sources, all of which must be folders.
    func watched(_ sources: [SourceArgument]) throws(CommandFailure) -> [[UInt8]] {
        try sources.map { source throws(CommandFailure) in
            if let folder = Self.folder(source) { return folder }
            throw CommandFailure("--watch: \(source.name) is not a folder", .usage)
        }
    }

    /// The absolute path of a source that is a folder; nil for any other source.
    private static func folder(_ source: SourceArgument) -> [UInt8]? {
        guard let path = try? FileURI(parsing: source.source).path,
            let status = try? FilePaths.status(of: path), status.st_mode & S_IFMT == S_IFDIR
        else { return nil }
        return path
    }
}

/// What is at a path found in a folder.
enum FoundFile {
    case picture, video, folder
    /// Why it is skipped, phrased to follow its name.
    case other(String)
    /// It is gone.
    case nothing

    init(_ path: [UInt8]) {
        func kind(followingLinks: Bool) -> mode_t? {
            (try? FilePaths.status(of: path, followingLinks: followingLinks)).map { $0.st_mode & S_IFMT }
        }
        switch kind(followingLinks: false) {
        case S_IFDIR: self = .folder
        case S_IFREG: self = Self.file(path)
        case S_IFLNK where kind(followingLinks: true) == S_IFREG: self = Self.file(path)
        case S_IFLNK: self = .other("a link, but to no file")
        case nil: self = .nothing
        default: self = .other("neither a file nor a folder")
        }
    }

    private static func file(_ path: [UInt8]) -> FoundFile {
        // O_NONBLOCK, because a pipe may have taken the file's place.
        let descriptor = open(path.map(CChar.init(bitPattern:)) + [0], O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT ? .nothing : .other("it cannot be read: \(Errno())") }
        let file = OpenFile(adopting: descriptor)
        guard let format = PictureFormat(sniffing: file) else {
            return VideoContainer(sniffing: file) == nil ? .other("its first bytes are no picture's") : .video
        }
        guard PictureFormat.optional.contains(format) else { return .picture }
        return .other("\(format.name) is read only with the worker's --allow-format \(format.rawValue)")
    }
}
