internal import CLinux
internal import CameoModel
internal import Glibc

/// A folder below which files may be read.
struct AllowedRoot: Sendable {
    /// As its operator wrote it, for messages.
    let name: String
    /// Held open (O_PATH), so that it stays the folder that was allowed, whatever its path leads to later.
    private let directory: OpenFile
    /// Its path with links resolved, and as written.
    private let prefixes: [[UInt8]]

    /// - Parameter path: relative paths are taken from the working directory.
    /// - Throws: ``FetchConfigurationError/root(path:_:)``.
    init(_ path: String) throws(FetchConfigurationError) {
        do throws(Errno) {
            directory = try OpenFile.directory(path)
            let real = try directory.path().map(UInt8.init(bitPattern:))
            // Where ".." stands behind a link, only the kernel knows what it means.
            let isPlain = path.utf8.first == UInt8(ascii: "/") && !path.contains("..")
            prefixes = isPlain ? [real, FilePaths.absolute(Array(path.utf8))] : [real]
        } catch {
            throw .root(path: path, error)
        }
        name = path
    }

    /// Says nothing of links.
    ///
    /// - Parameter path: absolute and normalized.
    /// - Returns: the path from this folder on; nil when it does not lie below.
    func relative(_ path: [UInt8]) -> [UInt8]? {
        for prefix in prefixes {
            if path == prefix { return Array(".".utf8) }
            let folder = prefix == Array("/".utf8) ? prefix : prefix + Array("/".utf8)
            if path.starts(with: folder) { return Array(path.dropFirst(folder.count)) }
        }
        return nil
    }

    /// Opens (O_PATH) what has this path from here. Neither `..` nor a link can lead out: EXDEV.
    func open(_ relative: [UInt8]) throws(Errno) -> OpenFile {
        let descriptor = cameo_open_path_beneath(directory.descriptor, relative.map(CChar.init(bitPattern:)) + [0])
        guard descriptor >= 0 else { throw Errno() }
        return OpenFile(adopting: descriptor)
    }
}
