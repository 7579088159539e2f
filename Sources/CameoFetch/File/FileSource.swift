internal import CLinux
internal import CameoModel
internal import CameoSystem
internal import Glibc

/// `file:`: regular files below the allowed roots.
///
/// The path may be a stranger's string. So the kernel resolves it below a root and opens it with O_PATH, which neither reads
/// nor blocks nor touches a device. Only a regular file outside the store is then opened for reading.
final class FileSource: Sendable {
    private let maximumBytes: Int
    private let roots: AllowedRoots
    private let fence: StoreFence?
    private let threads: BlockingThreads<Void>

    init(_ configuration: FetchConfiguration) throws(FetchConfigurationError) {
        maximumBytes = configuration.maximumBytes
        roots = try AllowedRoots(configuration.allowedRoots)
        fence = try configuration.deniedDirectory.map { store throws(FetchConfigurationError) in
            try StoreFence(around: store)
        }
        threads = BlockingThreads(limit: min(max(Machine.processors, 2), 8), name: "cameo-files") {}
    }

    func open(_ request: SourceRequest) async throws -> FetchedSource {
        let path: [UInt8]
        do throws(InvalidRequest) {
            path = try FileURI(parsing: request.target).path
        } catch {
            throw JobFailure.fetch(.sourceInvalid, "\(SourceName.of(request.target)) \(error.reason)")
        }
        let result = await threads.run { [self] _, isCancelled in Result { try read(path, unless: isCancelled) } }
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    func shutdown() { threads.shutdown() }

    private func read(_ path: [UInt8], unless isCancelled: () -> Bool) throws -> FetchedSource {
        let name = SourceName.ofPath(path)
        let candidate: OpenFile
        do throws(JobFailure) {
            candidate = try roots.open(path)
        } catch {
            // Another host may have the folder, or may read it.
            let folder = Array(path[..<max(1, path.lastIndex(of: UInt8(ascii: "/")) ?? 1)])
            guard (try? roots.open(folder)) == nil else { throw error }
            throw error.lacking(.files(in: FileURI(path: folder)))
        }
        guard let mode = candidate.status()?.st_mode else { throw JobFailure.fetch(openingFile: name, Errno(EBADF)) }
        guard mode & S_IFMT == S_IFREG else {
            let kind = mode & S_IFMT == S_IFDIR ? "a folder, not a file" : "not a regular file"
            throw JobFailure.fetch(.sourceInvalid, "\(name) is \(kind)")
        }
        let file = try reopen(candidate, name: name)
        guard let status = file.status() else { throw JobFailure.fetch(openingFile: name, Errno(EBADF)) }
        let state = FileSnapshot(status)
        let size = state.size
        guard size > 0 else { throw JobFailure.fetch(.sourceInvalid, "\(name) is empty") }
        guard size <= maximumBytes else {
            throw JobFailure.fetch(.sourceTooLarge, "\(name) has \(size) bytes, more than the allowed \(maximumBytes)")
        }
        let digest = try digest(of: file, size: size, named: name, unless: isCancelled)
        let source = FetchedSource(file, digest: digest, named: name, state)
        if let change = source.changeSinceOpened() { throw change }
        return source
    }

    private func reopen(_ candidate: OpenFile, name: String) throws(JobFailure) -> OpenFile {
        do throws(Errno) {
            if try fence?.encloses(candidate) != true { return try candidate.reopenedForReading() }
        } catch {
            throw .fetch(openingFile: name, error)
        }
        throw .fetch(.sourceForbidden, "\(name) belongs to the store, whose files cannot be sources")
    }

    /// Reads at explicit offsets, so that the file's own offset stays 0.
    private func digest(
        of file: OpenFile,
        size: Int,
        named name: String,
        unless isCancelled: () -> Bool
    ) throws -> BlobDigest {
        KillPoint.midFetch.pass()
        var hash = SHA256()
        // Of most files that is all: a larger buffer costs more to clear than a small file to read.
        var buffer = [UInt8](repeating: 0, count: min(size, 262_144))
        var offset = 0
        while offset < size {
            if isCancelled() { throw CancellationError() }
            let count = pread(file.descriptor, &buffer, min(buffer.count, size - offset), offset)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw JobFailure.fetch(readingFile: name, Errno()) }
            guard count > 0 else { throw JobFailure.fetch(.sourceChanged, "\(name) shrank while it was read") }
            buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            offset += count
        }
        return hash.finalize()
    }
}

extension OpenFile {
    /// Opens a folder with O_PATH.
    static func directory(_ path: [UInt8]) throws(Errno) -> OpenFile {
        try OpenFile(opened: cameo_open_directory_path(path.map(CChar.init(bitPattern:)) + [0]))
    }

    /// The path by which the kernel offers the descriptor.
    var magicLink: String { "/proc/self/fd/\(descriptor)" }

    /// The file's current path without links: any bytes but NUL. The path of a deleted file ends with " (deleted)".
    func path() throws(Errno) -> [UInt8] {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(magicLink, &buffer, buffer.count)
        guard count >= 0 else { throw Errno() }
        return buffer[..<count].map(UInt8.init(bitPattern:))
    }

    /// Opens the file of this O_PATH descriptor for reading, even if another file has its name by now.
    func reopenedForReading() throws(Errno) -> OpenFile {
        try OpenFile(opened: Glibc.open(magicLink, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK))
    }
}

extension JobFailure {
    /// The failure for an error number of opening a file.
    static func fetch(openingFile name: String, _ errno: Errno) -> JobFailure {
        switch errno.code {
        case ENOENT, ENOTDIR: .fetch(.sourceNotFound, "\(name) does not exist")
        case EACCES, EPERM: .fetch(.sourceForbidden, "\(name) may not be read by this user: \(errno)")
        case ELOOP, ENAMETOOLONG, ENXIO, ENODEV: .fetch(.sourceInvalid, "\(name) cannot be opened: \(errno)")
        case _ where errno.isShortage: .fetch(name, lacking: errno)
        case EWOULDBLOCK: .fetch(.sourceChanged, "\(name) is leased to a program that writes it")
        default: .fetch(.sourceUnreachable, "\(name) cannot be opened: \(errno)")
        }
    }

    /// The failure for a file that was opened but could not be read, for example from a network file system.
    static func fetch(readingFile name: String, _ errno: Errno) -> JobFailure {
        errno.isShortage
            ? .fetch(name, lacking: errno) : .fetch(.sourceUnreachable, "\(name) cannot be read: \(errno)")
    }
}
