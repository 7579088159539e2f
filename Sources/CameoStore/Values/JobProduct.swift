package import CameoModel

/// The result of a successful attempt.
package enum JobProduct: Sendable {
    case rendered([RenderedThumbnail], Provenance)
    /// Existing thumbnails that need not be made again: made from the revalidated bytes or, with nil, from any bytes.
    case kept([ThumbnailID], Revalidation?)
}
