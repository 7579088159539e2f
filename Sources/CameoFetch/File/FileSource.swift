internal import CameoModel
internal import Foundation
internal import Glibc

/// `file:`: regular files below the allowed roots.
///
/// The path may be a stranger's string. So the kernel resolves it below a root and opens it with O_PATH, which neither reads
/// nor blocks nor touches a device. Only a regular file outside the store is then opened for reading.
final class FileSource: SourceProvider {
    let schemes = ["file"]
    private let maximumBytes: Int
    private let roots: AllowedRoots
    private let fence: StoreFence?
    private let threads: BlockingThreads

    init(_ configuration: FetchConfiguration) throws(FetchConfigurationError) {
        maximumBytes = configuration.maximumBytes
        roots = try AllowedRoots(configuration.allowedRoots)
        if let store = configuration.deniedDirectory {
            fence = try StoreFence(around: store)
        } else {
            fence = nil
        }
        let cores = Machine.processors
        threads = BlockingThreads(count: min(max(cores, 2), 8), name: "cameo-files")
    }

    func open(_ request: SourceRequest) async throws -> FetchedSource {
        let path = try Self.path(of: request.target)
        return try await threads.run { [self] cancellation in try read(path, unless: cancellation) }
    }

    func shutdown() { threads.shutdown() }

    private static func path(of source: String) throws(JobFailure) -> [UInt8] {
        do throws(InvalidRequest) {
            return try FileURI(parsing: source).path
        } catch {
            throw .fetch(.sourceInvalid, "\(SourceName.of(source)) \(error.reason)")
        }
    }

    private func read(_ path: [UInt8], unless cancellation: CancellationFlag) throws -> FetchedSource {
        let name = SourceName.ofPath(path)
        let candidate = try roots.open(path)
        try checkKind(of: candidate, name: name)
        let file = try reopen(candidate, name: name)
        guard let status = file.status() else { throw JobFailure.fetch(openingFile: name, Errno(EBADF)) }
        let opened = OpenedFile(name: name, snapshot: FileSnapshot(status))
        let size = opened.snapshot.size
        guard size > 0 else { throw JobFailure.fetch(.sourceInvalid, "\(name) is empty") }
        guard size <= maximumBytes else {
            throw JobFailure.fetch(.sourceTooLarge, "\(name) has \(size) bytes, more than the allowed \(maximumBytes)")
        }
        let digest = try digest(of: file, as: opened, unless: cancellation)
        let source = FetchedSource(file, digest: digest, as: opened)
        if let change = source.changeSinceOpened() { throw change }
        return source
    }

    private func checkKind(of candidate: OpenFile, name: String) throws(JobFailure) {
        guard let status = candidate.status() else { throw .fetch(openingFile: name, Errno(EBADF)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw .fetch(.sourceInvalid, "\(name) is a folder, not a file")
        default: throw .fetch(.sourceInvalid, "\(name) is not a regular file")
        }
    }

    private func reopen(_ candidate: OpenFile, name: String) throws(JobFailure) -> OpenFile {
        do throws(Errno) {
            let isOfTheStore = try fence?.encloses(candidate) ?? false
            if !isOfTheStore { return try candidate.reopenedForReading() }
        } catch {
            throw .fetch(openingFile: name, error)
        }
        throw .fetch(.sourceForbidden, "\(name) belongs to the store, whose files cannot be sources")
    }

    /// Reads at explicit offsets, so that the file's own offset stays 0.
    private func digest(
        of file: OpenFile,
        as opened: OpenedFile,
        unless cancellation: CancellationFlag
    ) throws -> BlobDigest {
        KillPoint.midFetch.pass()
        var hash = SHA256()
        // Of most files that is all: a larger buffer costs more to clear than a small file to read.
        var buffer = [UInt8](repeating: 0, count: min(opened.snapshot.size, 262_144))
        var offset = 0
        while offset < opened.snapshot.size {
            try cancellation.check()
            let count = pread(file.descriptor, &buffer, min(buffer.count, opened.snapshot.size - offset), offset)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw JobFailure.fetch(readingFile: opened.name, Errno()) }
            guard count > 0 else { throw JobFailure.fetch(.sourceChanged, "\(opened.name) shrank while it was read") }
            buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            offset += count
        }
        return hash.finalize()
    }
}
