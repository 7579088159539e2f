package import CameoModel
internal import Foundation

/// A rendition's name and its thumbnail's id, as `job.thumbnails` keeps them: `[{"id":…,"name":…}]`.
package struct WantedThumbnail: Codable, Sendable {
    package let name: String
    private let idText: String

    private enum CodingKeys: String, CodingKey {
        case name
        case idText = "id"
    }

    package var id: ThumbnailID {
        get throws {
            guard let id = ThumbnailID(idText) else { throw StoreError.failed("\"\(idText)\" is not a thumbnail's id") }
            return id
        }
    }

    private init(name: String, id: ThumbnailID) {
        self.name = name
        idText = id.text
    }

    package static func all(of request: ThumbnailRequest) throws(InvalidRequest) -> [WantedThumbnail] {
        zip(request.renditions, try request.thumbnailIDs()).map { WantedThumbnail(name: $0.name, id: $1) }
    }

    /// Of a request as JSON text; empty for one that is invalid.
    package static func all(of text: String) throws -> [WantedThumbnail] {
        guard let request = try? ThumbnailRequest(parsing: text.utf8) else { return [] }
        return try all(of: request)
    }

    package static func json(of thumbnails: [WantedThumbnail]) throws -> String {
        String(decoding: try WireFormat.encode(thumbnails), as: UTF8.self)
    }

    package static func list(from json: String?) throws -> [WantedThumbnail] {
        guard let json else { return [] }
        return try WireFormat.decode([WantedThumbnail].self, from: Data(json.utf8))
    }
}
