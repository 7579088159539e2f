internal import CLinux
internal import CameoModel
internal import CameoSystem
internal import Glibc

/// The folders below which files may be read.
struct AllowedRoots: Sendable {
    private let roots: [AllowedRoot]

    init(_ paths: [String]) throws(FetchConfigurationError) {
        roots = try paths.map { path throws(FetchConfigurationError) in try AllowedRoot(path) }
    }

    /// Opens a file of any type below one of the roots with O_PATH. Its path is absolute and normalized.
    ///
    /// - Throws: `source.forbidden` for a file outside, `source.notFound`, and other failures to open.
    func open(_ path: [UInt8]) throws(JobFailure) -> OpenFile {
        let name = SourceName.ofPath(path)
        do throws(Errno) {
            if let file = try openBeneath(path) { return file }
            // The kernel follows no absolute link below a root, not even one that points inside. So the target of such a
            // link is opened by its own path, under the same rule.
            if roots.contains(where: { $0.relative(path) != nil }) {
                if let real = Self.resolved(path), real != path, let file = try openBeneath(real) { return file }
                throw Errno(EXDEV)
            }
        } catch {
            guard error.code == EXDEV else { throw .fetch(openingFile: name, error) }
            throw .fetch(
                .sourceForbidden,
                "\(name) is reached by a link that leads outside the allowed folders (\(names)); start the worker with "
                    + "--allow-root for the folder that it leads to, to allow it"
            )
        }
        let folder = path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)]
        throw .fetch(
            .sourceForbidden,
            "\(name) is outside the allowed folders (\(names)); start the worker with "
                + "--allow-root \(folder.isEmpty ? "/" : SourceName.ofPath(Array(folder))) to allow it"
        )
    }

    private var names: String { roots.isEmpty ? "none" : roots.map(\.name).joined(separator: ", ") }

    /// Returns nil if the path is below no root, or leads out of each root that it is below.
    private func openBeneath(_ path: [UInt8]) throws(Errno) -> OpenFile? {
        for root in roots {
            guard let relative = root.relative(path) else { continue }
            do throws(Errno) {
                return try root.open(relative)
            } catch {
                guard error.code == EXDEV else { throw error }
            }
        }
        return nil
    }

    private static func resolved(_ path: [UInt8]) -> [UInt8]? {
        guard let real = realpath(path.map(CChar.init(bitPattern:)) + [0], nil) else { return nil }
        defer { free(real) }
        return Array(UnsafeRawBufferPointer(start: real, count: strlen(real)))
    }
}

/// A folder below which files may be read.
struct AllowedRoot: Sendable {
    /// The path as the operator wrote it, for messages.
    let name: String
    /// The folder, held open with O_PATH, so that it stays the allowed one even if its path leads elsewhere later.
    private let directory: OpenFile
    /// The path with links resolved, and as written.
    private let prefixes: [[UInt8]]

    /// - Parameter path: a relative path is resolved against the working directory; a `file:` URI can name a folder whose
    ///   name is not UTF-8.
    /// - Throws: ``FetchConfigurationError/root(path:_:)``, ``FetchConfigurationError/systemCall(_:_:)``.
    init(_ path: String) throws(FetchConfigurationError) {
        let bytes = path.hasPrefix("file:") ? (try? FileURI(parsing: path))?.path : Array(path.utf8)
        do throws(Errno) {
            guard let bytes else { throw Errno(EINVAL) }
            directory = try OpenFile.directory(bytes)
            let real = try directory.path()
            // After a link, only the kernel knows what ".." means.
            let isPlain = bytes.first == UInt8(ascii: "/") && !path.contains("..")
            prefixes = isPlain ? [real, FilePaths.absolute(bytes)] : [real]
            name = SourceName.ofPath(bytes)
        } catch {
            throw .root(path: path, error)
        }
        do throws(Errno) {
            _ = try open(Array(".".utf8))
        } catch {
            // Now, and not for each source, which would be blamed for it.
            if [EPERM, ENOSYS].contains(error.code) { throw .systemCall("openat2", error) }
        }
    }

    /// An absolute and normalized path relative to this folder, without resolving links; nil if it is not below it.
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
        try OpenFile(
            opened: cameo_open_path_beneath(directory.descriptor, relative.map(CChar.init(bitPattern:)) + [0])
        )
    }
}
