package import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import CameoSystem
package import Foundation

// DESIGN. The beginnings of broken downloads are files in `blobs/tmp`, with no row: they may be lost at any time, and cost a
// longer download then. A file is a line of JSON and the bytes, which are verified when they are read, so it needs no sync.
// All together have a limit, and each is removed after an hour like every unfinished file.
extension SQLiteStore {
    /// The maximum size of all kept beginnings in bytes.
    static let partialBytes = 536_870_912

    package func keepPartial(_ partial: PartialResponse, bytes: Data, of key: SourceKey) async throws(StoreError) {
        guard writes != nil else { throw .readOnly(path: directory.path) }
        guard bytes.count <= Self.partialBytes else { return }
        guard files.hasRoom(for: bytes.count) else { throw .full(path: directory.path) }
        try await files.perform { directory in
            BlobFiles.shrinkPartials(in: directory, to: Self.partialBytes - bytes.count)
            var head = try JSONEncoder().encode(partial)
            head.append(UInt8(ascii: "\n"))
            let temporary = directory.unfinishedBlob()
            do {
                let file = try StoreAccess.open(temporary, O_WRONLY | O_CREAT | O_EXCL)
                try head.withUnsafeBytes { try file.write($0) }
                try bytes.withUnsafeBytes { try file.write($0) }
                guard rename(temporary, directory.partial(of: key)) == 0 else { throw Errno() }
            } catch {
                unlink(temporary)
                throw error
            }
        }
    }

    package func partial(of key: SourceKey) async throws(StoreError) -> (PartialResponse, OpenFile)? {
        try await files.perform { directory in
            let descriptor = open(directory.partial(of: key), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard let file = try? OpenFile(opened: descriptor) else { return nil }
            return BlobFiles.partial(in: file).map { ($0, file) }
        }
    }

    package func dropPartial(of key: SourceKey) async throws(StoreError) {
        try await files.perform { directory in _ = unlink(directory.partial(of: key)) }
    }

    package func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource {
        let forgotten = try await commit { db in try db.forgetSource(uri, extent) }
        try await endForgottenJobs()
        try await files.perform { directory in
            for name in BlobFiles.partials(in: directory) where name.hasPrefix(StoreDirectory.partialName(of: uri)) {
                unlink("\(directory.unfinishedBlobs)/\(name)")
            }
        }
        return forgotten
    }
}

extension BlobFiles {
    /// The longest line of JSON: a head is stored with up to 64 KiB.
    private static let lineLimit = 262_144

    static func partials(in directory: StoreDirectory) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.unfinishedBlobs)) ?? []
        return names.filter(StoreDirectory.isPartial)
    }

    /// Removes the oldest beginnings until the rest has at most so many bytes.
    fileprivate static func shrinkPartials(in directory: StoreDirectory, to limit: Int) {
        let found = partials(in: directory).compactMap { name -> (path: String, bytes: Int, changed: Int)? in
            let path = "\(directory.unfinishedBlobs)/\(name)"
            let status = StoreAccess.status(of: path, followingLinks: false)
            return status.map { (path: path, bytes: Int($0.st_size), changed: Int($0.st_mtim.tv_sec)) }
        }
        var total = found.reduce(0) { $0 + $1.bytes }
        for file in found.sorted(by: { $0.changed < $1.changed }) where total > limit {
            unlink(file.path)
            total -= file.bytes
        }
    }

    /// Reads the first line, and leaves the file's offset at the bytes; nil if they cannot be all there.
    fileprivate static func partial(in file: OpenFile) -> PartialResponse? {
        let start = file.bytes(in: 0..<lineLimit)
        guard let end = start.firstIndex(of: UInt8(ascii: "\n")),
            let partial = try? JSONDecoder().decode(PartialResponse.self, from: Data(start[..<end])),
            let status = file.status(), Int(status.st_size) == end + 1 + partial.count,
            lseek(file.descriptor, off_t(end + 1), SEEK_SET) == end + 1
        else { return nil }
        return partial
    }
}

extension StoreDirectory {
    private static let partial = "partial-"

    static func isPartial(_ name: String) -> Bool { name.hasPrefix(partial) }

    /// The path of the beginning of a source's broken download.
    func partial(of key: SourceKey) -> String {
        "\(unfinishedBlobs)/\(Self.partialName(of: key.uri))\(Self.shortDigest(key.scopeText))"
    }

    /// The start of the names of all files of a URI.
    static func partialName(of uri: String) -> String { "\(partial)\(shortDigest(uri))-" }

    private static func shortDigest(_ text: String) -> Substring { BlobDigest(of: Data(text.utf8)).hex.prefix(32) }
}
