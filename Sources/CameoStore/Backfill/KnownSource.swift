package import CameoModel

/// A source that the store has thumbnails of.
package struct KnownSource: Hashable, Sendable {
    /// A thumbnail of the source, as far as a backfill looks at it.
    package struct StoredThumbnail: Hashable, Sendable {
        package let id: ThumbnailID
        /// The rendition in JSON.
        package let rendition: String
        package let rendererVersion: String
        /// Whether its bytes are there.
        package let isIntact: Bool

        package init(id: ThumbnailID, rendition: String, rendererVersion: String, isIntact: Bool) {
            self.id = id
            self.rendition = rendition
            self.rendererVersion = rendererVersion
            self.isIntact = isIntact
        }
    }

    /// The source as it is in thumbnails' ids (`SourceIdentity`).
    package let source: String
    /// Whether its bytes were in the store, and are no longer: nothing can be made of it.
    package let isGone: Bool
    package let thumbnails: [StoredThumbnail]

    package init(source: String, isGone: Bool, thumbnails: [StoredThumbnail]) {
        self.source = source
        self.isGone = isGone
        self.thumbnails = thumbnails
    }
}
