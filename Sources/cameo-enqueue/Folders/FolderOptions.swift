internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoSystem
internal import CommandSupport
internal import Foundation

/// The options for sources that are folders.
struct FolderOptions: ParsableArguments {
    @Flag(
        name: [.customShort("r"), .long],
        help: "Enqueue all pictures in and below each SOURCE that is a folder, recognised by their first bytes."
    )
    var recursive = false

    @Flag(
        help: """
            Run until stopped, and enqueue each new picture in the folders given as SOURCE once it is complete. With \
            -r, enqueue the existing pictures first, and watch subfolders too.
            """
    )
    var watch = false

    var depth: PictureTree.Depth { recursive ? .everythingBelow : .folderOnly }

    /// The sources, with each folder replaced by the pictures in and below it if `--recursive` was given. The folder
    /// `store` is skipped.
    func expanded(_ sources: [SourceArgument], store: [UInt8]) throws -> [SourceArgument] {
        guard recursive else { return sources }
        var result: [SourceArgument] = []
        for source in sources {
            guard let folder = Self.folder(source) else {
                result.append(source)
                continue
            }
            let tree = try PictureTree(folder, depth, leavingOut: store)
            guard !tree.pictures.isEmpty || watch else {
                throw CommandFailure("\(source.name): contains no pictures\(Self.leftOut(tree))", .usage)
            }
            if tree.otherFiles + tree.unreadableFiles > 0 {
                let count = AmountText.count(tree.pictures.count, "picture")
                Output.error("cameo-enqueue: \(source.name): \(count)\(Self.leftOut(tree))")
            }
            result += tree.pictures.map { SourceArgument($0) }
        }
        return result
    }

    /// The absolute paths of the sources, all of which must be folders.
    func watched(_ sources: [SourceArgument]) throws(CommandFailure) -> [[UInt8]] {
        try sources.map { source throws(CommandFailure) in
            if let folder = Self.folder(source) { return folder }
            throw CommandFailure("--watch: \(source.name) is not a folder", .usage)
        }
    }

    private static func leftOut(_ tree: PictureTree) -> String {
        [(tree.otherFiles, "other file"), (tree.unreadableFiles, "unreadable file")].filter { $0.0 > 0 }
            .map { count, noun in ", \(AmountText.count(count, noun)) skipped" }.joined()
    }

    /// The absolute path of a source that is a folder; nil for any other source.
    private static func folder(_ source: SourceArgument) -> [UInt8]? {
        guard let path = try? FileURI(parsing: source.source).path,
            let status = try? FilePaths.status(of: path), status.st_mode & S_IFMT == S_IFDIR
        else { return nil }
        return path
    }
}

/// The kind of a path found in a folder.
enum FoundFile {
    case picture, folder
    /// A file that is not a picture, or one that workers open only with `--allow-format`.
    case other
    /// A file that this user cannot read.
    case unreadable
    /// A path that is neither a file nor a folder, or is gone.
    case nothing

    init(_ path: [UInt8]) {
        func kind(followingLinks: Bool) -> mode_t? {
            (try? FilePaths.status(of: path, followingLinks: followingLinks)).map { $0.st_mode & S_IFMT }
        }
        switch kind(followingLinks: false) {
        case S_IFDIR: self = .folder
        case S_IFREG: self = Self.file(path)
        case S_IFLNK: self = kind(followingLinks: true) == S_IFREG ? Self.file(path) : .nothing
        default: self = .nothing
        }
    }

    private static func file(_ path: [UInt8]) -> FoundFile {
        // O_NONBLOCK, because a pipe may have taken the file's place.
        let descriptor = open(path.map(CChar.init(bitPattern:)) + [0], O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT ? .nothing : .unreadable }
        guard let format = PictureFormat(sniffing: OpenFile(adopting: descriptor)) else { return .other }
        return PictureFormat.optional.contains(format) ? .other : .picture
    }
}
