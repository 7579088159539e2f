internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CommandSupport
internal import Foundation

/// Folders as sources.
struct FolderOptions: ParsableArguments {
    @Flag(
        name: [.customShort("r"), .long],
        help: "Enqueues all pictures in and below a SOURCE that is a folder, recognised by their first bytes."
    )
    var recursive = false

    @Flag(
        help: """
            Runs until it is stopped and enqueues each picture that appears in the folders that SOURCE names, once it is \
            complete. With -r, it first enqueues the existing pictures, and watches the folders below as well.
            """
    )
    var watch = false

    var depth: PictureTree.Depth { recursive ? .everythingBelow : .folderOnly }

    /// The sources, with each folder replaced by the pictures in it if `--recursive` was given. The folder `store` is skipped.
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
                throw CommandFailure("\(source.name): there is no picture in it\(Self.leftOut(tree))", .usage)
            }
            if tree.otherFiles + tree.unreadableFiles > 0 {
                let count = AmountText.count(tree.pictures.count, "picture")
                Output.error("cameo-enqueue: \(source.name): \(count)\(Self.leftOut(tree))")
            }
            result += tree.pictures.map(SourceArgument.file)
        }
        return result
    }

    /// The folders to watch.
    func watched(_ sources: [SourceArgument]) throws(CommandFailure) -> [[UInt8]] {
        var folders: [[UInt8]] = []
        for source in sources {
            guard let folder = Self.folder(source) else {
                throw CommandFailure("--watch: \(source.name) is no folder", .usage)
            }
            folders.append(folder)
        }
        return folders
    }

    private static func leftOut(_ tree: PictureTree) -> String {
        var parts: [String] = []
        if tree.otherFiles > 0 { parts.append("\(AmountText.count(tree.otherFiles, "other file")) left out") }
        if tree.unreadableFiles > 0 {
            parts.append("\(AmountText.count(tree.unreadableFiles, "file")) left out that may not be read")
        }
        return parts.map { ", \($0)" }.joined()
    }

    /// The absolute path of a source that is a folder.
    private static func folder(_ source: SourceArgument) -> [UInt8]? {
        guard let path = try? FileURI(parsing: source.source).path else { return nil }
        var status = stat()
        guard stat(path.map(CChar.init(bitPattern:)) + [0], &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return nil
        }
        return path
    }
}
