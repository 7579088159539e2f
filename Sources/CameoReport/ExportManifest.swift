internal import CameoModel
internal import Foundation

/// The file `manifest.json` of an export. It maps every file that was ever exported into the folder to its thumbnail.
struct ExportManifest {
    private static let name = "manifest.json"

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
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = openat(directory.descriptor, unfinished, flags, 0o666)
        guard descriptor >= 0 else { throw ExportError(path: Self.name, reason: "\(Errno())") }
        do {
            let file = OpenFile(adopting: descriptor)
            try Data(text.utf8).withUnsafeBytes { try file.write($0) }
            guard renameat(directory.descriptor, unfinished, directory.descriptor, Self.name) == 0 else {
                throw Errno()
            }
        } catch {
            unlinkat(directory.descriptor, unfinished, 0)
            throw ExportError(path: Self.name, reason: "\(error)")
        }
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
