package import CameoModel
package import CameoStore
package import Foundation

/// Thumbnails and what is known of them, for people to read on a terminal.
package enum ThumbnailList {
    /// A heading and a line for each thumbnail. `columns` is the terminal's width, nil for no limit. `escape` makes text from
    /// outside safe to show.
    package static func lines(
        _ thumbnails: [ThumbnailFacts],
        at now: Date,
        columns: Int? = nil,
        style: TextStyle = .plain,
        escape: (String) -> String
    ) -> [String] {
        var table = TextTable(columns: [.word("THUMBNAIL"), .word("PICTURE"), .number("AGE"), .path("SOURCE")])
        table.rows = thumbnails.map { facts in
            let thumbnail = facts.thumbnail
            return [
                String(thumbnail.uri.text.suffix(32)),
                "\(thumbnail.width ?? 0)x\(thumbnail.height ?? 0) \(thumbnail.format ?? "")",
                AmountText.duration(max(0, now.timeIntervalSince(facts.updatedAt))),
                escape(JobList.name(of: facts.source)),
            ]
        }
        return table.lines(fitting: columns, style)
    }

    /// Everything that is known of a thumbnail.
    package static func lines(_ facts: ThumbnailFacts, escape: (String) -> String) -> [String] {
        let thumbnail = facts.thumbnail
        let options = (try? Rendition(json: facts.rendition, at: "")).map(RenditionText.options) ?? ""
        let source = [PictureText.source(of: thumbnail), facts.sourceBytes.map(AmountText.bytes)].compactMap(\.self)
        let again = facts.updatedAt == facts.createdAt ? "" : ", first \(WireFormat.text(of: facts.createdAt))"
        let rows = [
            ("source", SourceName.of(facts.source)), ("picture", source.joined(separator: ", ")),
            ("digest", facts.sourceDigest), ("taken", facts.takenAt ?? "unknown"),
            ("camera", facts.camera ?? "unknown"),
            ("rendition", [thumbnail.name, options].filter { !$0.isEmpty }.joined(separator: ": ")),
            ("thumbnail", PictureText.shape(of: thumbnail) ?? ""), ("colour", thumbnail.dominantColor ?? ""),
            ("blob", thumbnail.blob?.text ?? ""),
            ("made", WireFormat.text(of: facts.updatedAt) + again + (facts.job.map { ", by job \($0)" } ?? "")),
            ("labels", facts.labels.joined(separator: ", ")),
        ]
        return [thumbnail.uri.text]
            + rows.filter { !$0.1.isEmpty }.map { "  \($0.0.padded(to: 12))\(escape($0.1))" }
    }
}

extension ReaderStore {
    /// Calls `body` for every thumbnail that a filter matches. They are read a page at a time.
    package func forEachThumbnail(_ filter: ThumbnailFilter, _ body: (ThumbnailFacts) async throws -> Void) async throws
    {
        var (filter, cursor) = (filter, nil as String?)
        // By source: an order by use changes while they are read.
        if filter.sourcePrefix == nil { filter.sourcePrefix = "" }
        repeat {
            let page = try await thumbnails(where: filter, after: cursor, limit: 200)
            for facts in page.thumbnails { try await body(facts) }
            cursor = page.next
        } while cursor != nil
    }
}
