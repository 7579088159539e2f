package import CameoModel
internal import Foundation

/// A rendition's name and its thumbnail's id, stored in `accepted.thumbnails` as `[{"id":…,"name":…}]`.
package struct WantedThumbnail: Sendable {
    package let name: String
    package let id: ThumbnailID

    package static func all(of request: ThumbnailRequest) throws(InvalidRequest) -> [WantedThumbnail] {
        zip(request.renditions, try request.thumbnailIDs()).map { WantedThumbnail(name: $0.name, id: $1) }
    }

    /// The thumbnails of a request in JSON; empty if it is invalid.
    package static func all(of text: String) throws -> [WantedThumbnail] {
        guard let request = try? ThumbnailRequest(parsing: text.utf8) else { return [] }
        return try all(of: request)
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
