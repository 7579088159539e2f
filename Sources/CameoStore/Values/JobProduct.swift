package import CameoModel

/// What a successful attempt leaves to be stored.
package enum JobProduct: Sendable {
    case rendered([RenderedThumbnail], Provenance)
    /// Thumbnails that exist and need not be made again: of the bytes that were seen again, or, with nil, of whatever
    /// bytes.
    case kept([ThumbnailID], Revalidation?)
}
