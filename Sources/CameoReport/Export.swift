package import CameoModel
package import CameoStore
internal import CameoSystem
internal import Foundation

/// Writes thumbnails into a folder, under names that are safe whatever the sources are called: they lie in the folder, overwrite
/// nothing and follow no links. A manifest in the folder maps each file to its thumbnail.
package struct Export {
    /// The number of thumbnails that this export has written.
    package private(set) var written = 0
    /// The number of thumbnails that an earlier export had already written.
    package private(set) var kept = 0
    /// The names of the thumbnails that were not written because another file has their names.
    package private(set) var skipped: [String] = []
    /// The thumbnails that could not be read.
    package private(set) var unreadable: [UnreadableThumbnail] = []

    private let directory: OpenFile
    private var manifest: ExportManifest
    private let store: any ReaderStore

    /// Opens the folder, and creates it if it is missing.
    ///
    /// - Throws: ``ExportError`` if the folder cannot be created or belongs to the store, or if its `manifest.json` is not one
    ///   of an export.
    package init(to path: String, from store: any ReaderStore) throws {
        self.store = store
        if let folder = store.folder, (FilePaths.absolute(path) + "/").hasPrefix(folder + "/") {
            throw ExportError(path: path, reason: "it belongs to the store")
        }
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw ExportError(path: path, reason: error.localizedDescription)
        }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ExportError(path: path, reason: "\(Errno())") }
        directory = OpenFile(adopting: descriptor)
        manifest = try ExportManifest(in: directory)
    }

    /// Writes a thumbnail of a job into the folder itself. Of two equal names, the second one gets the job's number.
    package mutating func write(_ thumbnail: RequestedThumbnail, of job: Job) async throws {
        guard thumbnail.blob != nil else { return }
        let place = ExportPlace(thumbnail, of: job.source, in: [], distinct: String(job.id))
        try await write(thumbnail, of: "job \(job.id)", job.source, at: place)
    }

    /// Writes a thumbnail where its source lies in the tree of all sources.
    package mutating func write(_ facts: ThumbnailFacts) async throws {
        try await write(facts.thumbnail, of: SourceName.of(facts.source), facts.source, at: ExportPlace(facts))
    }

    private mutating func write(
        _ thumbnail: RequestedThumbnail,
        of origin: String,
        _ source: String?,
        at place: ExportPlace
    ) async throws {
        let data: Data
        do throws(UnreadableThumbnail) {
            data = try await store.data(of: thumbnail, origin)
        } catch {
            unreadable.append(error)
            return
        }
        // Files of earlier exports stay.
        if let folder = try folder(place.folders) {
            for name in place.names {
                // The bytes alone do not tell: thumbnails of different sources may be identical.
                guard manifest.mayBe(place.path(name), of: thumbnail.uri.text) else { continue }
                if try write(data, as: name, in: folder) {
                    written += 1
                } else if (try? FileHandle.reading(name, in: folder)?.readToEnd()) == data {
                    kept += 1
                } else {
                    continue
                }
                manifest.note(place.path(name), source: source, uri: thumbnail.uri.text)
                return
            }
        }
        skipped.append(place.paths[1])
    }

    /// Writes the manifest. To be called after the last thumbnail.
    package func finish() throws { try manifest.write(in: directory) }

    /// A folder below that of the export, which is made; nil if something else has the name of one.
    private func folder(_ names: [String]) throws -> OpenFile? {
        var folder = directory
        for name in names {
            mkdirat(folder.descriptor, name, 0o777)
            let descriptor = openat(folder.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if descriptor < 0, errno == ENOTDIR || errno == ELOOP { return nil }
            guard descriptor >= 0 else {
                throw ExportError(path: names.joined(separator: "/"), reason: "\(Errno())")
            }
            folder = OpenFile(adopting: descriptor)
        }
        return folder
    }

    /// - Returns: false if the name is taken.
    private func write(_ data: Data, as name: String, in directory: OpenFile) throws -> Bool {
        let descriptor = openat(directory.descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        if descriptor < 0 {
            if errno == EEXIST || errno == ELOOP { return false }
            throw ExportError(path: name, reason: "\(Errno())")
        }
        let file = OpenFile(adopting: descriptor)
        do {
            try file.write(data)
        } catch {
            unlinkat(directory.descriptor, name, 0)
            throw ExportError(path: name, reason: "\(error)")
        }
        return true
    }
}

/// Where a thumbnail lies among others, in a folder or an archive.
package struct ExportPlace {
    /// From the outermost to the innermost.
    let folders: [String]
    /// The name of its file, and another for the case that the first is taken.
    let names: [String]

    /// Where its source lies in the tree of all sources: `shop.example/shoes/red.64x.webp`. Of two equal names, the second one
    /// gets the first eight digits of the thumbnail's id.
    package init(_ facts: ThumbnailFacts) {
        let mark = String(facts.thumbnail.uri.text.suffix(32).prefix(8))
        self.init(facts.thumbnail, of: facts.source, in: Self.folders(of: facts.source), distinct: mark)
    }

    init(_ thumbnail: RequestedThumbnail, of source: String?, in folders: [String], distinct mark: String) {
        let stem = Self.stem(of: source)
        let ending = thumbnail.format.flatMap { Rendition.Format(rawValue: $0) }?.fileExtension ?? "bin"
        names = [stem, "\(stem)-\(mark)"].map { "\($0).\(thumbnail.name).\(ending)" }
        self.folders = folders
    }

    func path(_ name: String) -> String { (folders + [name]).joined(separator: "/") }

    /// The names with their folders.
    package var paths: [String] { names.map(path) }

    /// The last component of the source's path without its extension. All characters other than letters, digits, `-` and `_`
    /// are replaced by `_`.
    static func stem(of source: String?) -> String {
        guard let source, !InlinePicture.isIn(source) else { return "picture" }
        let path = source.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        let name = last.removingPercentEncoding ?? last
        let base = name.contains(".") ? String(name[..<(name.lastIndex(of: ".") ?? name.endIndex)]) : name
        let stem = safe(base)
        return stem.isEmpty ? "picture" : stem
    }

    /// The folders above a file, or above the path of a URL, whose host is the first; of any other source none. At most the
    /// last 32.
    static func folders(of source: String) -> [String] {
        let scheme = SourceScheme(of: source)
        guard let scheme, scheme == .file || scheme.isWeb else { return [] }
        let path = source.prefix { $0 != "?" && $0 != "#" }.dropFirst(scheme.rawValue.count + 1)
        var names = path.split(separator: "/")
        // In front of a host is what stands for a user name and password.
        if scheme.isWeb, let host = names.first?.split(separator: "@").last { names[0] = host }
        return names.dropLast().suffix(32).map { name in
            let folder = safe(name.removingPercentEncoding ?? String(name), keeping: ".")
            // Neither the folder itself nor the one above it, nor what is hidden, nor in the manifest's place.
            return folder.hasPrefix(".") || folder == ExportManifest.name ? "_\(folder)" : folder
        }
    }

    /// The name with `_` in place of all but letters, digits, `-`, `_` and another character. A file name has 255 bytes at
    /// most, and a rendition's name and an extension may be still to come.
    private static func safe(_ name: String, keeping other: Unicode.Scalar = "-") -> String {
        var safe = ""
        for scalar in name.unicodeScalars {
            let isKept = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            let character = isKept || scalar == "-" || scalar == "_" || scalar == other ? String(scalar) : "_"
            if safe.utf8.count + character.utf8.count <= 120 { safe += character }
        }
        return safe
    }
}

/// The file `manifest.json` of an export. It maps every file that was ever exported into the folder to its thumbnail.
struct ExportManifest {
    static let name = "manifest.json"

    private struct Entry: Codable {
        let file: String
        /// The source as it was requested, without credentials; the beginning of a source that contains its picture.
        let source: String?
        let uri: String
    }

    private var entries: [String: Entry] = [:]

    /// Reads the manifest of earlier exports into the folder, if there is one.
    ///
    /// - Throws: ``ExportError`` if a file of this name is not a manifest.
    init(in directory: OpenFile) throws {
        guard faccessat(directory.descriptor, Self.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        do {
            let data = try FileHandle.reading(Self.name, in: directory)?.readToEnd() ?? Data()
            for entry in try WireFormat.decode([Entry].self, from: data) { entries[entry.file] = entry }
        } catch {
            throw ExportError(path: Self.name, reason: "it exists and is not the manifest of an export")
        }
    }

    /// Whether a file belongs to this thumbnail, or to none yet.
    func mayBe(_ file: String, of uri: String) -> Bool { entries[file].map { $0.uri == uri } ?? true }

    mutating func note(_ file: String, source: String?, uri: String) {
        let source = source.map { InlinePicture.isIn($0) ? SourceName.of($0) : SourceName.withoutCredentials($0) }
        entries[file] = Entry(file: file, source: source, uri: uri)
    }

    /// Replaces the manifest atomically: readers see the earlier one or this one.
    func write(in directory: OpenFile) throws {
        let lines = try entries.values.sorted { $0.file < $1.file }.map {
            String(decoding: try WireFormat.encode($0), as: UTF8.self)
        }
        let text = "[\n" + lines.joined(separator: ",\n") + (lines.isEmpty ? "" : "\n") + "]\n"
        let unfinished = ".manifest-\(UUID().uuidString)"
        try ReportFile.replace(Self.name, by: unfinished, in: directory.descriptor, with: Data(text.utf8))
    }
}

extension FileHandle {
    /// Opens a file for reading without following links; nil if it cannot be opened.
    static func reading(_ name: String, in directory: OpenFile) -> FileHandle? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = openat(directory.descriptor, name, flags)
        return descriptor < 0 ? nil : FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}

/// A file or folder of an export or a report that cannot be written.
package struct ExportError: Error, CustomStringConvertible {
    let path: String
    let reason: String

    package var description: String { "cannot write \(path): \(reason)" }
}

/// A thumbnail that the store lists but cannot read. A report continues without it, and says so.
package struct UnreadableThumbnail: Error, Sendable, CustomStringConvertible {
    /// `job 7`, or the name of the source.
    package let origin: String
    package let thumbnail: RequestedThumbnail
    package let reason: StoreError

    package var description: String {
        "\(thumbnail.name) of \(origin) (\(thumbnail.uri)) cannot be read: \(reason)"
    }
}

extension ReaderStore {
    /// The bytes of a thumbnail of a job or source.
    func data(of thumbnail: RequestedThumbnail, _ origin: String) async throws(UnreadableThumbnail) -> Data {
        do throws(StoreError) {
            return try await data(of: thumbnail.uri)
        } catch {
            throw UnreadableThumbnail(origin: origin, thumbnail: thumbnail, reason: error)
        }
    }
}
