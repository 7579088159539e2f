/// Removes everything but pixels: EXIF, XMP, IPTC, profile, comments and the loader's own fields.
///
/// The savers are told to strip as well, but libvips 8.14.1 still writes EXIF and profile into WebP, and the privacy of
/// a photograph's location must not depend on a saver's option.
enum StripMetadata: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        guard let stripped = picture.withoutMetadata() else {
            throw .processingFailed(step: "metadata", detail: VipsLibrary.takeErrorText())
        }
        return stripped
    }
}
