internal import ArgumentParser
package import CameoModel
internal import CameoSystem
internal import Foundation

/// Options that select thumbnails by what is known of them, whatever became of their jobs.
package struct ThumbnailSelection: ParsableArguments {
    @Option(help: "Only thumbnails of sources that start with this: https://shop.example/.".taking("prefix"))
    var source: String?

    @Option(help: "Only thumbnails that a request with this label named.".taking("label"))
    var label: String?

    @Option(help: "Only thumbnails that a request of this batch named.".taking("label"))
    var batch: String?

    @Option(help: "Only thumbnails of the picture with this SHA-256, 64 hexadecimal digits.".taking("digest"))
    var digest: String?

    @Option(
        help: "Only thumbnails of the same bytes as this thumbnail, this source or this file.".taking("uri|file"),
        completion: .file(),
        transform: Self.picture
    )
    var sameAs: CameoURI?

    @Option(help: "Only thumbnails whose source contains this, such as the name of a file.".taking("text"))
    var search: String?

    @Option(help: "Only thumbnails made since: 2030-01-31T12:00:00Z, or so long ago (90d).".taking("time"))
    var since: String?

    package init() {}

    package func validate() throws {
        for (option, value) in [
            ("--source", source), ("--search", search), ("--label", label), ("--batch", batch),
        ] where value == "" {
            throw ValidationError("\(option): must not be empty")
        }
        for (option, value) in [("--source", source), ("--search", search)] {
            guard let value, value.count > ThumbnailFilter.maximumPrefix else { continue }
            throw ValidationError("\(option): must have at most \(ThumbnailFilter.maximumPrefix) characters")
        }
        if let digest, BlobDigest(hex: digest) == nil {
            throw ValidationError("--digest \(digest): must be 64 lower-case hexadecimal digits")
        }
        _ = try filter()
    }

    package func filter() throws -> ThumbnailFilter {
        var filter = ThumbnailFilter()
        (filter.sourcePrefix, filter.label, filter.batch, filter.sourceDigest) = (
            source.map(SourceArgument.prefix), label, batch, digest
        )
        (filter.sourcePart, filter.sameAs) = (search, sameAs)
        filter.since = try PastTime.date(since, of: "--since")
        return filter
    }

    /// The picture of a thumbnail, or of a source unless it is a file, which is known by its bytes.
    private static func picture(_ argument: String) throws -> CameoURI {
        if let thumbnail = ThumbnailArgument(argument: argument) { return .thumbnail(thumbnail.id) }
        let source = SourceArgument(Array(argument.utf8)).source
        guard SourceScheme(of: source) == .file, let path = try? FileURI(parsing: source).path else {
            return .source(source)
        }
        do throws(Errno) {
            let file = try OpenFile(opened: open(path.map(CChar.init(bitPattern:)) + [0], O_RDONLY | O_CLOEXEC))
            var hash = SHA256()
            while case let part = try InputFile.part(of: file.descriptor, atMost: 1 << 20), !part.isEmpty {
                part.withUnsafeBytes { hash.update($0) }
            }
            return .blob(hash.finalize())
        } catch {
            throw ValidationError("--same-as \(argument): cannot be read: \(error)")
        }
    }

    /// What to say when it selects nothing.
    package static func nothing(_ filter: ThumbnailFilter) -> CommandFailure {
        CommandFailure(filter.isEmpty ? "there are no thumbnails yet" : "no thumbnails match", .failed)
    }
}

/// A thumbnail on the command line, by any of its names.
package struct ThumbnailArgument: ExpressibleByArgument {
    package let id: ThumbnailID

    package init?(argument: String) {
        if case .thumbnail(let id)? = CameoURI(argument) {
            self.id = id
        } else {
            // The id itself, or the end of a path.
            let path = argument.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").suffix(2)
            guard path.count == 1 || path.first == "thumb", let name = path.last,
                let id = ThumbnailID(name.prefix { $0 != "." })
            else { return nil }
            self.id = id
        }
    }
}
