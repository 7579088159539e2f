package import CameoModel
internal import CameoSystem
internal import Foundation

/// A validated request with the values its rows need, computed before the write lock is taken.
package struct NewJob: Sendable {
    package let request: ThumbnailRequest
    package let wanted: [WantedThumbnail]
    /// The unique key; nil for an upload without a name, whose thumbnail ids are unknown until its bytes are read.
    package let key: UniqueKey?
    /// The number of the `upload` row that contains the picture.
    package let upload: Int64?
    /// The wanted thumbnails as JSON.
    package let thumbnails: String

    package init(_ request: ThumbnailRequest) throws(InvalidRequest) {
        self.request = request
        upload = Self.upload(request.source)
        wanted = upload == nil ? try WantedThumbnail.all(of: request) : []
        key = upload == nil ? UniqueKey(request, wanted) : nil
        thumbnails = WantedThumbnail.json(of: wanted)
    }

    /// A job of an upload under a name, by which its thumbnails are known before its bytes are read.
    package init(_ request: ThumbnailRequest, of upload: Int64, under key: CacheKey) throws(InvalidRequest) {
        var named = request
        named.source = key.uri
        (self.request, self.upload) = (named, upload)
        wanted = try WantedThumbnail.all(of: named)
        self.key = UniqueKey(named, wanted)
        thumbnails = WantedThumbnail.json(of: wanted)
    }

    /// The stored blobs and thumbnails that the job reads, by digest and id.
    package var ingredients: Set<String> {
        Set(
            ([request.source] + request.overlaySources).compactMap { text in
                switch CameoURI(text) {
                case .thumbnail(let id): id.text
                case .blob(let digest): digest.hex
                case .source, nil: nil
                }
            }
        )
    }

    private static func upload(_ source: String) -> Int64? {
        guard URIScheme.of(source) == "upload" else { return nil }
        // No row has the number 0, so a malformed one is refused when the row is looked up.
        return Int64(source.dropFirst("upload:".count)) ?? 0
    }
}

/// A validated request with everything its rows need. Digests and canonical JSON take longer to compute than the rows
/// take to write, so they are computed before any lock is taken, on all cores.
package struct CheckedRequest: Sendable {
    package let job: NewJob
    /// The request as JSON text.
    package let text: String
    package let key: UniqueKey
    /// Whether existing thumbnails do not answer it, because the caller knows that they are stale.
    package var needsJob = false

    /// Reads the request's JSON as a store does, unless all but the source is that of a valid one.
    package init(_ request: ThumbnailRequest, like known: ThumbnailRequest? = nil) throws(InvalidRequest) {
        let json = request.json
        if try known?.replacing(source: request.source) != request { _ = try ThumbnailRequest(json: json) }
        job = try NewJob(request)
        text = json.canonicalText
        guard text.utf8.count <= ThumbnailRequest.maximumBytes else {
            let reason =
                "the request has \(text.utf8.count) bytes as JSON, more than \(ThumbnailRequest.maximumBytes)"
                + ThumbnailRequest.largerPicture
            throw InvalidRequest(path: "", reason: reason)
        }
        guard let key = job.key else {
            throw InvalidRequest(path: "source", reason: "only an upload may have an upload: source")
        }
        self.key = key
    }

    /// The number of requests that one task prepares.
    private static let slice = 125

    package static func all(_ requests: some RandomAccessCollection<ThumbnailRequest> & Sendable) async throws
        -> [CheckedRequest]
    {
        guard requests.count > slice else { return try each(requests) }
        return try await withThrowingTaskGroup(of: (Int, [CheckedRequest]).self) { group in
            for start in stride(from: 0, to: requests.count, by: slice) {
                group.addTask {
                    (start, try each(requests.dropFirst(start).prefix(slice)))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.flatMap { $0.1 }
        }
    }

    private static func each(_ requests: some Sequence<ThumbnailRequest>) throws(InvalidRequest) -> [CheckedRequest] {
        var (checked, last): ([CheckedRequest], ThumbnailRequest?) = ([], nil)
        for request in requests {
            checked.append(try CheckedRequest(request, like: last))
            last = request
        }
        return checked
    }
}

/// The key that deduplicates waiting jobs: the queue, plus the request's unique key or else its thumbnails.
package struct UniqueKey: Hashable, Sendable {
    package let text: String

    /// The order and repetition of thumbnails do not matter.
    package init(_ request: ThumbnailRequest, _ wanted: [WantedThumbnail]) {
        var members: [String: JSONValue] = ["v": .integer(1), "queue": .string(request.queue)]
        if let key = request.uniqueKey {
            members["key"] = .string(key)
        } else {
            let ids = Set(wanted.map(\.id.text))
            members["thumbnails"] = .array(ids.sorted().map(JSONValue.string))
        }
        text = SHA256.shortHex(of: .object(members))
    }
}

/// A rendition's name and its thumbnail's id, stored in `accepted.thumbnails` as `[{"id":…,"name":…}]`.
package struct WantedThumbnail: Sendable {
    package let name: String
    package let id: ThumbnailID

    package static func all(of request: ThumbnailRequest) throws(InvalidRequest) -> [WantedThumbnail] {
        zip(request.renditions, try request.thumbnailIDs()).map { WantedThumbnail(name: $0.name, id: $1) }
    }

    package static func json(of thumbnails: [WantedThumbnail]) -> String {
        JSONValue.array(thumbnails.map { .object(["id": .string($0.id.text), "name": .string($0.name)]) }).canonicalText
    }

    package static func list(from json: String?) throws -> [WantedThumbnail] {
        guard let json, case .array(let items) = try JSONValue(parsing: json) else { return [] }
        return try items.map { item in
            guard case .object(let members) = item, case .string(let name) = members["name"],
                case .string(let text) = members["id"], let id = ThumbnailID(text)
            else { throw StoreError.failed("\"\(json)\" does not list thumbnails") }
            return WantedThumbnail(name: name, id: id)
        }
    }
}
