internal import CameoModel
package import CameoStore
internal import Foundation

/// Writes thumbnails into a folder, under names that are safe whatever the sources are called: they contain no separators,
/// overwrite nothing and follow no links. A manifest in the folder maps each file to its thumbnail.
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
    private let store: any Store

    /// Opens the folder, and creates it if it is missing.
    ///
    /// - Throws: ``ExportError`` if the folder cannot be created or belongs to the store, or if its `manifest.json` is not one
    ///   of an export.
    package init(to path: String, from store: any Store) throws {
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

    package mutating func write(_ listed: ListedThumbnail) async throws {
        let data: Data
        do throws(UnreadableThumbnail) {
            guard let bytes = try await store.data(of: listed.thumbnail, for: listed.job) else { return }
            data = bytes
        } catch {
            unreadable.append(error)
            return
        }
        let stem = Self.stem(of: listed.job.source)
        let ending = listed.thumbnail.format.flatMap(Rendition.Format.init)?.fileExtension ?? "bin"
        let rendition = listed.thumbnail.name
        // Two sources may have the same name: the second file has its job's number in its name. Files of earlier exports
        // stay.
        for name in ["\(stem).\(rendition).\(ending)", "\(stem)-\(listed.job.id).\(rendition).\(ending)"] {
            // The bytes alone do not tell: thumbnails of different sources may be identical.
            guard manifest.mayBe(name, of: listed.thumbnail.uri.text) else { continue }
            if try write(data, as: name) {
                written += 1
            } else if contents(of: name) == data {
                kept += 1
            } else {
                continue
            }
            manifest.note(name, source: listed.job.source, uri: listed.thumbnail.uri.text)
            return
        }
        skipped.append("\(stem)-\(listed.job.id).\(rendition).\(ending)")
    }

    /// Writes the manifest. To be called after the last thumbnail.
    package func finish() throws { try manifest.write(in: directory) }

    /// - Returns: false if the name is taken.
    private func write(_ data: Data, as name: String) throws -> Bool {
        let descriptor = openat(directory.descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        if descriptor < 0 {
            if errno == EEXIST || errno == ELOOP { return false }
            throw ExportError(path: name, reason: "\(Errno())")
        }
        let file = OpenFile(adopting: descriptor)
        do {
            try data.withUnsafeBytes { try file.write($0) }
        } catch {
            unlinkat(directory.descriptor, name, 0)
            throw ExportError(path: name, reason: "\(error)")
        }
        return true
    }

    private func contents(of name: String) -> Data? {
        try? FileHandle.reading(name, in: directory)?.readToEnd()
    }

    /// The last component of the source's path without its extension. All characters other than letters, digits, `-` and `_`
    /// are replaced by `_`.
    static func stem(of source: String?) -> String {
        guard let source, !InlinePicture.isIn(source) else { return "picture" }
        let path = source.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        let name = last.removingPercentEncoding ?? last
        let base = name.contains(".") ? String(name[..<(name.lastIndex(of: ".") ?? name.endIndex)]) : name
        let safe = base.unicodeScalars.map { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "-" || scalar == "_"
                ? String(scalar) : "_"
        }
        // A file name has 255 bytes at most, and the rendition's name and the extension are still to come.
        var stem = ""
        for character in safe where stem.utf8.count + character.utf8.count <= 120 { stem += character }
        return stem.isEmpty ? "picture" : stem
    }
}
