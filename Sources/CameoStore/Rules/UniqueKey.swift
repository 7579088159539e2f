package import CameoModel

/// What makes two requests one job while it waits: the queue, and the request's own key or else the thumbnails.
package struct UniqueKey: Hashable, Sendable {
    package let text: String

    /// In any order and each once: which of them a request names first does not matter.
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
