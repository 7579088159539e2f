package import CameoModel

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
