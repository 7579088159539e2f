internal import CLinux
internal import CameoModel
internal import Glibc

/// A folder below which files may be read.
struct AllowedRoot: Sendable {
    /// The path as the operator wrote it, for messages.
    let name: String
    /// The folder, held open with O_PATH, so that it stays the allowed one even if its path leads elsewhere later.
    private let directory: OpenFile
    /// The path with links resolved, and as written.
    private let prefixes: [[UInt8]]

    /// - Parameter path: a relative path is resolved against the working directory.
    /// - Throws: ``FetchConfigurationError/root(path:_:)``.
    init(_ path: String) throws(FetchConfigurationError) {
        do throws(Errno) {
            directory = try OpenFile.directory(path)
            let real = try directory.path().map(UInt8.init(bitPattern:))
            // After a link, only the kernel knows what ".." means.
            let isPlain = path.utf8.first == UInt8(ascii: "/") && !path.contains("..")
            prefixes = isPlain ? [real, FilePaths.absolute(Array(path.utf8))] : [real]
        } catch {
            throw .root(path: path, error)
        }
        name = path
    }

    /// The path relative to this folder, without resolving links.
    ///
    /// - Parameter path: absolute and normalized.
    /// - Returns: the relative path; nil if the path is not below this folder.
    func relative(_ path: [UInt8]) -> [UInt8]? {
        for prefix in prefixes {
            if path == prefix { return Array(".".utf8) }
            let folder = prefix == Array("/".utf8) ? prefix : prefix + Array("/".utf8)
            if path.starts(with: folder) { return Array(path.dropFirst(folder.count)) }
        }
        return nil
    }

    /// Opens a relative path with O_PATH. If `..` or a link leads out of the folder, it fails with EXDEV.
    func open(_ relative: [UInt8]) throws(Errno) -> OpenFile {
        let descriptor = cameo_open_path_beneath(directory.descriptor, relative.map(CChar.init(bitPattern:)) + [0])
        guard descriptor >= 0 else { throw Errno() }
        return OpenFile(adopting: descriptor)
    }
}
