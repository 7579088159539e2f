package import CameoModel
package import CameoStore
package import Foundation

/// An HTML page that shows thumbnails: those of some jobs, or any of some sources. It is self-contained: the pictures are embedded.
package struct ContactSheet {
    /// The thumbnails that could not be read. Each has a tile that says so.
    package private(set) var unreadable: [UnreadableThumbnail] = []
    private struct Card {
        let heading: String
        var pictures = ""
    }

    private var cards: [Card] = []
    private var cardOfSource: [ExactText: Int] = [:]
    private var noun = "source"
    private var thumbnails = 0
    private var bytes = 0
    private let store: any ReaderStore

    package init(store: any ReaderStore) {
        self.store = store
    }

    package mutating func add(_ job: Job) async {
        noun = "job"
        let source = job.source.map(SourceName.of) ?? "job \(job.id)"
        var card = Card(heading: Self.heading(of: source, job.thumbnails.first { $0.source != nil }))
        let renditions = (try? ThumbnailRequest(json: job.request))?.renditions ?? []
        for thumbnail in job.thumbnails where thumbnail.blob != nil {
            let rendition = renditions.first { $0.name == thumbnail.name }
            card.pictures += await figure(of: thumbnail, rendition, of: "job \(job.id)")
        }
        if job.state != .completed {
            let reason = job.failure.map { "\($0.code.rawValue): \($0.message)" } ?? job.state.rawValue
            card.pictures += "<p class=\"failure\">\(reason.escapedForMarkup)</p>"
        }
        cards.append(card)
    }

    /// Thumbnails of one source are shown together.
    package mutating func add(_ facts: ThumbnailFacts) async {
        let source = SourceName.of(facts.source)
        let picture = await figure(of: facts.thumbnail, try? Rendition(json: facts.rendition, at: ""), of: source)
        let place = cardOfSource[ExactText(facts.source)] ?? cards.count
        if place == cards.count {
            cards.append(Card(heading: Self.heading(of: source, facts.thumbnail)))
            cardOfSource[ExactText(facts.source)] = place
        }
        cards[place].pictures += picture
    }

    private mutating func figure(
        of thumbnail: RequestedThumbnail,
        _ rendition: Rendition?,
        of origin: String
    ) async -> String {
        do throws(UnreadableThumbnail) {
            let data = try await store.data(of: thumbnail, origin)
            (thumbnails, bytes) = (thumbnails + 1, bytes + data.count)
            return Self.figure(thumbnail, rendition, data)
        } catch {
            unreadable.append(error)
            return Self.figure(of: error)
        }
    }

    package func html(title: String) -> Data {
        let missing = unreadable.isEmpty ? "" : ", \(unreadable.count) that cannot be read"
        let head =
            "\(AmountText.count(cards.count, noun)), \(AmountText.count(thumbnails, "thumbnail")), "
            + "\(AmountText.bytes(bytes))\(missing)"
        return Data(
            """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title.escapedForMarkup)</title>
            <style>
            :root { color-scheme: light dark; --card: light-dark(#fff, #1e2024); --quiet: light-dark(#666, #a9adb5); --bad: light-dark(#a11, #ff9c96); }
            body { font: 14px/1.4 system-ui, sans-serif; margin: 2rem; background: light-dark(#f4f4f2, #141517); color: light-dark(#222, #ebebe8); }
            h1 { font-size: 1.3rem; } main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
            section { display: flex; flex-wrap: wrap; gap: .6rem; align-content: start; align-items: start; background: var(--card); border-radius: 6px; padding: .8rem; box-shadow: 0 1px 3px #0002; }
            h2 { font-size: .8rem; font-weight: 500; margin: 0; color: var(--quiet); } h2, p.failure { flex: 0 0 100%; overflow-wrap: anywhere; }
            figure { margin: 0; max-width: min(16rem, 100%); }
            img { width: auto; max-width: 100%; max-height: 16rem; display: block;
              background: repeating-conic-gradient(light-dark(#ddd, #333) 0 25%, var(--card) 0 50%) 0 0 / 16px 16px; }
            figcaption { font-size: .75rem; color: var(--quiet); overflow-wrap: break-word; } .failure { color: var(--bad); margin: 0; }
            .unreadable { border: 1px dashed var(--bad); border-radius: 6px; padding: .8rem; overflow-wrap: anywhere; }
            </style></head><body><h1>\(title.escapedForMarkup)</h1><p>\(head)</p><main>
            \(cards.map { "<section>\($0.heading)\($0.pictures)</section>" }.joined(separator: "\n"))
            </main></body></html>

            """.utf8
        )
    }

    /// The name of a file, or a URL; the whole source is shown under the pointer.
    private static func heading(of source: String, _ thumbnail: RequestedThumbnail?) -> String {
        let isFile = URIScheme.of(source) == "file"
        let name = isFile ? source.split(separator: "/").last.map(String.init) : nil
        let words = [name ?? source, thumbnail.flatMap(PictureText.source)].compactMap(\.self)
        return "<h2 title=\"\(source.escapedForMarkup)\">\(words.joined(separator: " · ").escapedForMarkup)</h2>"
    }

    private static func figure(_ thumbnail: RequestedThumbnail, _ rendition: Rendition?, _ data: Data) -> String {
        let format = thumbnail.format.flatMap { Rendition.Format(rawValue: $0) }
        let type = format?.mediaType ?? "application/octet-stream"
        let caption = "\(thumbnail.name) · \(PictureText.thumbnail(thumbnail) ?? "")"
        let options = rendition.map(RenditionText.options) ?? ""
        return """
            <figure><img src="data:\(type);base64,\(data.base64EncodedString())" width="\(thumbnail.width ?? 0)" \
            style="height:auto\(background(of: thumbnail))" alt=""><figcaption>\(caption.escapedForMarkup)\
            <br><small>\(options.escapedForMarkup)</small></figcaption></figure>
            """
    }

    private static func figure(of unreadable: UnreadableThumbnail) -> String {
        """
        <figure class="unreadable"><figcaption>\(unreadable.thumbnail.name.escapedForMarkup) · \(unreadable.thumbnail.uri.text.escapedForMarkup)</figcaption>\
        <p class="failure">\(unreadable.reason.description.escapedForMarkup)</p></figure>
        """
    }

    /// The dominant colour, shown until the picture has loaded; empty for a thumbnail that may be transparent, which has the
    /// stylesheet's checkerboard behind it.
    private static func background(of thumbnail: RequestedThumbnail) -> String {
        guard thumbnail.hasAlpha == false, let color = thumbnail.dominantColor.flatMap(Color.init) else { return "" }
        return ";background:\(color)"
    }
}

/// The options of a rendition, for people to read.
enum RenditionText {
    private static let valueLimit = 60

    /// `width 64, height 64, fit cover, blur 2`: every field that differs from its default, beginning with the box. Values are
    /// written as JSON, strings without quotes. Long values, such as a `data:` overlay, are truncated.
    static func options(of rendition: Rendition) -> String {
        guard case .object(var members) = rendition.json else { return "" }
        members["name"] = nil
        let box = ["width", "height", "fit"]
        let names = box.filter { members[$0] != nil } + members.keys.filter { !box.contains($0) }.sorted()
        return names.compactMap { name in members[name].map { "\(name) \(text(of: $0))" } }.joined(separator: ", ")
    }

    private static func text(of value: JSONValue) -> String {
        let text = if case .string(let text) = value { text } else { value.canonicalText }
        return text.count <= valueLimit ? text : text.prefix(valueLimit - 1) + "…"
    }
}
