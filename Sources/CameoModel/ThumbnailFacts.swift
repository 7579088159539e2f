public import Foundation

/// What is known of a stored thumbnail, whatever became of the job that made it.
///
/// JSON form: `proto-json/thumbnail-facts.schema.json`.
public struct ThumbnailFacts: Hashable, Codable, Sendable {
    /// Its URI, size, format and placeholder, and the facts of the picture that it was made from.
    public let thumbnail: RequestedThumbnail
    /// The media type: `image/webp`, …
    public let type: String
    /// The source as it was requested, with … in place of a user name and password; a `data:` URI by its digest.
    public let source: String
    /// The SHA-256 of the source's bytes, 64 lower-case hexadecimal digits.
    public let sourceDigest: String
    /// The size of the source in bytes; nil if it is not known.
    public let sourceBytes: Int?
    /// When the picture was taken, by the clock of the camera: `2026-05-01T12:13:14+02:00`, without the offset if the source
    /// does not say it.
    public let takenAt: String?
    /// The camera's maker and model.
    public let camera: String?
    /// The rendition that was asked for first, as in a request, with … in place of passwords.
    public let rendition: JSONValue
    /// When it was first made, and when last.
    public let createdAt, updatedAt: Date
    /// The job that made it last; nil if that has been removed.
    public let job: Int64?
    /// The labels of the requests that named it, sorted.
    public let labels: [String]

    package init(
        _ thumbnail: Thumbnail,
        type: String,
        source: String,
        sourceBytes: Int?,
        rendition: JSONValue,
        createdAt: Date,
        job: Int64?,
        labels: [String]
    ) {
        // A name that follows from the rendition is not in it.
        let name = (try? Rendition(json: rendition, at: "rendition"))?.name
        self.thumbnail = RequestedThumbnail(name: name ?? "", id: thumbnail.id, thumbnail: thumbnail)
        (self.type, self.source, self.sourceDigest) = (type, source, thumbnail.sourceDigest.hex)
        (self.sourceBytes, takenAt, camera) = (sourceBytes, thumbnail.source.taken?.at, thumbnail.source.taken?.camera)
        (self.rendition, self.createdAt) = (Job.withoutPasswords(rendition), createdAt)
        updatedAt = thumbnail.updatedAt
        (self.job, self.labels) = (job, labels)
    }
}

/// Which thumbnails to list; those that match all that is given.
public struct ThumbnailFilter: Hashable, Sendable {
    /// The source, as it was requested.
    public var source: String?
    /// What the source begins with: `https://shop.example/`, at most 500 characters.
    public var sourcePrefix: String?
    /// What the source contains, as it is or percent-encoded, upper and lower case alike: the name of a file.
    public var sourcePart: String?
    /// The SHA-256 of the source's bytes, 64 lower-case hexadecimal digits.
    public var sourceDigest: String?
    /// Of whose bytes they were made: those of a blob, or of which a thumbnail or those of a source were made.
    public var sameAs: CameoURI?
    /// A label of a request that named it.
    public var label: String?
    /// The batch of a request that named it.
    public var batch: String?
    /// The earliest time at which it was last made.
    public var since: Date?

    /// Those of the source of this thumbnail.
    package var sibling: ThumbnailID?
    /// Whether only the last used one of each source is listed, the latest first.
    package var isOfPictures = false

    package static let maximumPrefix = 500

    /// Creates a filter that matches every thumbnail.
    public init() {}

    package var isEmpty: Bool { self == ThumbnailFilter() }
}

/// Where a list of pictures by last use goes on: after what the last one was when it was listed. It may have been used since.
package struct PictureCursor: Sendable {
    package let usedAt, updatedAt: Int64
    package let id: ThumbnailID

    package init(usedAt: Int64, updatedAt: Int64, id: ThumbnailID) {
        (self.usedAt, self.updatedAt, self.id) = (usedAt, updatedAt, id)
    }

    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let used = Int64(parts[0]), let updated = Int64(parts[1]),
            let id = ThumbnailID(parts[2])
        else { return nil }
        self.init(usedAt: used, updatedAt: updated, id: id)
    }

    package var text: String { "\(usedAt)-\(updatedAt)-\(id)" }
}

/// Some thumbnails, in an order that stays: those of a label, batch or digest by their ids, those of sources by these, and
/// others by their last use, the latest first.
public struct ThumbnailPage: Hashable, Codable, Sendable {
    /// In the order of the list.
    public let thumbnails: [ThumbnailFacts]
    /// What continues after these; nil after the last.
    public let next: String?

    package init(thumbnails: [ThumbnailFacts], next: String?) { (self.thumbnails, self.next) = (thumbnails, next) }
}
