internal import CameoHTTPCache
internal import CameoModel
package import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Serves the bytes that a `cameo:` name refers to.
extension WebExchange {
    /// - Throws: ``Problem`` with status 410 for what was forgotten, perhaps while it was looked up.
    func content(_ route: Route) async throws -> Response {
        guard let rest = target.firstSegment.rest, !rest.isEmpty else { throw Self.nothing }
        do {
            return try await content(route, try RequestTarget.decoded(rest))
        } catch StoreError.notFound(let name) {
            guard let uri = CameoURI(name), try await site.store.wasForgotten(uri) else {
                throw StoreError.notFound(uri: name)
            }
            throw PendingThumbnail.forgotten
        }
    }

    private func content(_ route: Route, _ name: String) async throws -> Response {
        switch route {
        case .thumbnail: return try await thumbnail(name)
        case .placeholder: return try await placeholder(name)
        case .blob:
            guard name.hasPrefix("sha256-"), let digest = BlobDigest(hex: name.dropFirst(7)) else { throw Self.nothing }
            // An operator who looks through everything does not use it.
            let isUsed = target.query["look"] == nil
            return try await serve(try await site.store.content(of: .blob(digest), isUsed: isUsed))
        default:
            try admit(.read)
            return try await serve(try await site.store.content(of: .source(name)))
        }
    }

    private static let nothing = Problem(
        .notFound,
        "nothing here: the paths are /thumb/ID, /placeholder/ID, /blob/sha256-… and /source/…"
    )

    private func thumbnail(_ name: String) async throws -> Response {
        if name.hasSuffix(".json") { return try await facts(name.dropLast(".json".count)) }
        if name.hasSuffix(".vtt") { return try await track(name.dropLast(".vtt".count)) }
        let name = try Self.parsed(name)
        let pending = try PendingThumbnail(name.id, target.query)
        switch try await pending.wait(try target.query.wait(), on: site) {
        case .missing(let promise, let hasEnded):
            return try await pending.answer(to: request, on: site, promise, hasEnded: hasEnded)
        case .made(let content):
            if let ending = name.ending, !name.fits(content) {
                let reason = "the thumbnail is \(content.mediaType ?? ""), which does not match .\(ending)"
                throw Problem(.notFound, "\(reason); omit the extension")
            }
            return try await serve(content)
        }
    }

    private func placeholder(_ name: String) async throws -> Response {
        let thumbnail = try await site.store.thumbnail(try Self.parsed(name).id)
        let picture = PlaceholderPicture(of: thumbnail)
        return try whole(picture.bytes, as: picture.mediaType, tag: "placeholder-\(thumbnail.blob)")
    }

    /// What is known of a thumbnail; for everybody, what its bytes say anyway, and its placeholder.
    private func facts(_ name: Substring) async throws -> Response {
        guard let id = ThumbnailID(name) else { throw Self.nothing }
        var known = try await site.store.facts(of: [id]).first
        if known == nil {
            let pending = try PendingThumbnail(id, target.query)
            if case .missing(let promise, let hasEnded) = try await pending.wait(try target.query.wait(), on: site) {
                return try await pending.answer(to: nil, on: site, promise, hasEnded: hasEnded)
            }
            known = try await site.store.facts(of: [id]).first
        }
        guard let facts = known else { throw StoreError.notFound(uri: CameoURI.thumbnail(id).text) }
        guard !site.configuration.tokens.allow(.read, to: request) else { return try Response(message: facts) }
        let thumbnail = facts.thumbnail
        var members: [String: JSONValue] = ["uri": .string(thumbnail.uri.text), "type": .string(facts.type)]
        for (name, number) in [
            ("width", thumbnail.width), ("height", thumbnail.height), ("bytes", thumbnail.bytes),
            ("frames", thumbnail.frames),
        ] {
            members[name] = number.map { .integer(Int64($0)) }
        }
        for (name, text) in [
            ("thumbHash", thumbnail.thumbHash), ("blurHash", thumbnail.blurHash),
            ("dominantColor", thumbnail.dominantColor),
        ] {
            members[name] = text.map(JSONValue.string)
        }
        return Response(json: .object(["thumbnail": .object(members)]), status: .ok)
    }

    private static let lengths: ClosedRange<Int64> = 1...200

    /// Lists thumbnails.
    func thumbnails() async throws -> Response {
        try check(allows: .get, .head)
        let names = [
            "source", "search", "digest", "sameAs", "label", "batch", "since", "beside", "each", "limit", "cursor",
        ]
        try admit(.read, names)
        var filter = ThumbnailFilter()
        (filter.sourcePrefix, filter.sourceDigest) = (target.query["source"], target.query["digest"])
        (filter.label, filter.batch) = (target.query["label"], target.query["batch"])
        filter.since = try target.query.time("since")
        filter.sourcePart = target.query["search"].flatMap { $0.isEmpty ? nil : $0 }
        if let id = target.query["beside"] {
            filter.sibling = ThumbnailID(id)
            guard filter.sibling != nil else { throw Problem(.badRequest, "beside=\(id): is no thumbnail's id") }
        }
        if let name = target.query["sameAs"] {
            filter.sameAs = ThumbnailID(name).map { .thumbnail($0) } ?? CameoURI(name)
            guard filter.sameAs != nil else {
                throw Problem(.badRequest, "sameAs=\(name): is neither a thumbnail's id nor a cameo: URI")
            }
        }
        if let each = target.query["each"] {
            filter.isOfPictures = each == "source"
            guard filter.isOfPictures else { throw Problem(.badRequest, "each=\(each): must be source") }
        }
        let cursor = target.query["cursor"]
        if let digest = filter.sourceDigest, BlobDigest(hex: digest) == nil {
            throw Problem(.badRequest, "digest=\(digest): must have 64 lower-case hexadecimal digits")
        }
        for (name, text) in [("source", filter.sourcePrefix), ("search", filter.sourcePart)] {
            guard let text, text.count > ThumbnailFilter.maximumPrefix else { continue }
            throw Problem(.badRequest, "\(name): must have at most \(ThumbnailFilter.maximumPrefix) characters")
        }
        if let cursor, filter.isOfPictures ? PictureCursor(cursor) == nil : ThumbnailID(cursor) == nil {
            throw Problem(.badRequest, "cursor=\(cursor): no page gave it")
        }
        let limit = Int(try target.query.integer("limit", in: Self.lengths) ?? 50)
        return try Response(
            message: try await site.store.thumbnails(where: filter, after: cursor, limit: limit)
        )
    }

    /// The WebVTT file of a storyboard, which names its sheet by the name beside it.
    private func track(_ name: Substring) async throws -> Response {
        guard let id = ThumbnailID(name) else { throw Self.nothing }
        let thumbnail = try await site.store.thumbnail(id)
        guard let text = thumbnail.webVTT(sheet: "\(id).\(thumbnail.format.fileExtension)") else {
            throw Problem(.notFound, "the thumbnail is no storyboard of a video")
        }
        return try whole(text.utf8, as: "text/vtt; charset=utf-8", tag: "track-\(thumbnail.blob)")
    }

    /// Responds with bytes that are at hand, unless the client has them. Without other rules they are computed from the facts
    /// of a thumbnail, and kept like one.
    func whole(
        _ bytes: some Sequence<UInt8>,
        as mediaType: String,
        tag: String,
        cacheControl: String? = nil,
        policy: String = Self.policy
    ) throws(Problem) -> Response {
        let headers: HTTPFields = [
            .contentType: mediaType, .eTag: "\"\(tag)\"",
            .cacheControl: cacheControl ?? site.configuration.thumbnailCacheControl(until: end),
            .contentSecurityPolicy: policy,
        ]
        return try RequestConditions(request).response(in: headers)
            ?? Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func parsed(_ name: String) throws(Problem) -> ThumbnailName {
        guard let name = ThumbnailName(name[...]) else { throw nothing }
        return name
    }

    /// The content security policy of types that a browser might run as a document, such as SVG: nothing in them
    /// executes.
    static let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
    /// The types that no browser treats as a document.
    static let harmless = Set(
        PictureFormat.allCases.filter { !$0.isVector && $0.mediaType.hasPrefix("image/") }.map(\.mediaType)
    )

    /// Serves the content, or the part of it that the request's conditions and range select.
    ///
    /// - Throws: ``Problem`` or ``StoreError``.
    func serve(_ content: StoredContent) async throws -> Response {
        var headers = site.configuration.fields(of: content, until: end)
        let conditions = RequestConditions(request)
        // Checked before the bytes are read: a client that has them costs one row lookup.
        if let response = try conditions.response(in: headers) { return response }
        if let redirect = try await redirect(to: content) { return redirect }
        let (count, start, body) = try await opened(content.digest)
        headers.append(contentsOf: Self.fields(of: content, start, count))
        let part = conditions.part(
            of: count,
            entityTag: content.entityTag,
            lastModified: headers[.lastModified],
            isGET: request.method == .get
        )
        switch part {
        case .whole:
            guard request.method == .get else { return Response(status: .ok, headers: headers) }
            return Response(status: .ok, headers: headers, body: body(0..<count))
        case .range(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
            headers[.contentLength] = "\(range.count)"
            return Response(status: .partialContent, headers: headers, body: body(range))
        case .unsatisfiable:
            let reason = "the range does not fit the content of \(count) bytes"
            throw Problem(.rangeNotSatisfiable, reason, headers: [.contentRange: "bytes */\(count)"])
        }
    }

    /// What an answer with a content says of its bytes, the first of which are known.
    static func fields(of content: StoredContent, _ start: Data, _ count: Int) -> HTTPFields {
        let type = content.contentType(of: start)
        var fields: HTTPFields = [.contentType: type, .acceptRanges: "bytes", .contentLength: "\(count)"]
        if !harmless.contains(type) { fields[.contentSecurityPolicy] = policy }
        return fields
    }

    /// Verified bytes: how many they are, the first of them, and what makes the body of a response with a part of them.
    private func opened(
        _ digest: BlobDigest
    ) async throws -> (count: Int, start: Data, body: (Range<Int>) -> ResponseBody) {
        switch try await site.store.bytes(of: digest, through: site.memory) {
        case .inMemory(let data):
            let body = { (range: Range<Int>) in
                ResponseBody(byteBuffer: ByteBuffer(bytes: data.dropFirst(range.lowerBound).prefix(range.count)))
            }
            return (data.count, data.prefix(PictureFormat.sniffedBytes), body)
        case .file(let file, let count):
            try await site.files.verify(file, count: count, as: digest)
            let start = Data(await site.files.read(file, 0..<min(count, PictureFormat.sniffedBytes)))
            let body = { (range: Range<Int>) in
                FileBody(file: file, range: range, files: site.files, channel: context.channel).responseBody
            }
            return (count, start, body)
        }
    }
}

/// The name of a thumbnail in a path: `ID`, or `ID` with an extension such as `.webp`.
struct ThumbnailName {
    let id: ThumbnailID
    let ending: Substring?

    /// Returns nil for anything else, and for the extension of no format.
    init?(_ text: Substring) {
        let end = text.utf8.firstIndex(of: UInt8(ascii: ".")) ?? text.endIndex
        guard let id = ThumbnailID(text[..<end]) else { return nil }
        self.id = id
        ending = end == text.endIndex ? nil : text[text.utf8.index(after: end)...]
        guard let ending else { return }
        let types = Rendition.Format.allCases.compactMap(\.mediaType)
        guard types.contains(where: { Self.endings(of: $0).contains(ending) }) else { return nil }
    }

    /// Whether the extension is that of the content's type.
    func fits(_ content: StoredContent) -> Bool {
        guard let ending, let type = content.mediaType else { return true }
        return Self.endings(of: type).contains(ending)
    }

    private static func endings(of mediaType: String) -> [Substring] {
        mediaType == "image/jpeg" ? ["jpg", "jpeg"] : [mediaType.dropFirst("image/".count)]
    }
}

// What caches may do with what is served, at URLs that end at a time, in seconds since 1970, or never.
extension WebConfiguration {
    /// What any answer about a content says, 304 as well.
    func fields(of content: StoredContent, until end: Int64? = nil) -> HTTPFields {
        var fields: HTTPFields = [.eTag: content.entityTag]
        fields[.cacheControl] =
            switch content.freshness {
            case .forever: "public, \(content.cacheControl)"
            case .unknown: thumbnailCacheControl(until: end)
            // The server does not know who may see an original.
            case .until: "private, \(content.cacheControl)"
            }
        if let time = content.modifiedAt { fields[.lastModified] = HTTPDate.text(of: time) }
        return fields
    }

    func thumbnailCacheControl(until end: Int64?) -> String {
        Self.cacheControl(for: thumbnailAge, staleFor: thumbnailStaleness, until: end)
    }

    /// `Cache-Control` of what everybody may keep for this time, and at most until the URL ends.
    static func cacheControl(for age: Duration, staleFor staleness: Duration? = nil, until end: Int64?) -> String {
        guard let end else {
            let stale = staleness.map { ", stale-while-revalidate=\($0.components.seconds)" } ?? ""
            return "public, max-age=\(age.components.seconds)\(stale)"
        }
        let left = max(0, Double(end) - Date().timeIntervalSince1970)
        return "public, max-age=\(Int64(min(age.seconds, left))), must-revalidate"
    }
}

extension RequestConditions {
    init(_ request: Request) {
        self.init { name in HTTPField.Name(name).flatMap { request.headers[$0] } }
    }

    /// The response with these fields to a client that has the content already; nil if the content is to be sent. The
    /// content is known by its entity tag and date among the fields.
    ///
    /// - Throws: ``Problem`` with status 412 if the content is not the one that the client wants to go on with.
    func response(in headers: HTTPFields) throws(Problem) -> Response? {
        switch verdict(entityTag: headers[.eTag], lastModified: headers[.lastModified]) {
        case nil: return nil
        case .notModified: return Response(status: .notModified, headers: headers)
        case .preconditionFailed:
            throw Problem(.preconditionFailed, "the content is not what If-Match or If-Unmodified-Since requires")
        }
    }
}

// DESIGN. A redirect is to be forgotten before its URL ends. So it is fresh for less time than the URL is valid, has no
// `stale-while-revalidate`, and no validator: with an entity tag, a cache would ask whether it may use the redirect again,
// and 304 would bring back a URL that has ended. A condition is judged here, before: who has the bytes gets 304, with
// nothing signed. A range is none of the redirect's business: the client asks for it again at the URL.
//
// Originals are not redirected to. They need a token here, and the URL would need none.
extension WebExchange {
    /// A URL has at least this lifetime, so that clients find their own copies: it stays the same for half of it.
    private static let usualLifetime = Duration.seconds(3_600)
    /// How long before the end of its URL a redirect is forgotten: what following it may take.
    private static let margin = Duration.seconds(60)

    /// How long a URL is valid.
    static func lifetime(of configuration: WebConfiguration) -> Duration {
        max(usualLifetime, (configuration.thumbnailAge + margin) * 2)
    }

    /// A redirect to the content's bytes; nil if they are to be served from here: small ones, which are in the store itself,
    /// and all if URLs would end too soon, because the store's credentials do.
    func redirect(to content: StoredContent) async throws(StoreError) -> Response? {
        // A bucket has other tags and dates, and would judge `If-Match` by them.
        guard let redirects = site.configuration.redirects, Route(target) != .source,
            request.headers[.ifMatch] == nil, request.headers[.ifUnmodifiedSince] == nil,
            let type = content.mediaType, Self.harmless.contains(type), !site.memory.holds(content.digest)
        else { return nil }
        let terms = TemporaryURLTerms(
            method: request.method == .head ? .head : .get,
            mediaType: type,
            lifetime: Self.lifetime(of: site.configuration),
            endpoint: redirects.endpoint
        )
        guard let url = try await site.store.temporaryURL(of: content.digest, on: terms), url.remaining > Self.margin
        else { return nil }
        let left = url.remaining - Self.margin
        let age = content.freshness == .forever ? left : min(left, site.configuration.thumbnailAge)
        return Response(
            status: .temporaryRedirect,
            headers: [.location: url.text, .cacheControl: WebConfiguration.cacheControl(for: age, until: end)]
        )
    }
}

/// That large blobs are read from where the store keeps them, by URLs that are signed for a while.
package struct BlobRedirects: Sendable {
    /// The scheme, host and port of the URLs.
    package let origin: String
    /// The server that clients reach; nil for the one that the store itself uses.
    let endpoint: Endpoint?

    /// Returns nil if the store keeps no blobs where clients could read them.
    package init?(of store: some ReaderStore, at endpoint: Endpoint?) {
        guard let origin = store.temporaryURLOrigin(at: endpoint) else { return nil }
        (self.origin, self.endpoint) = (origin, endpoint)
    }
}
