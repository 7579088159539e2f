/// Removes everything but pixels: EXIF, XMP, IPTC, profile, comments, and the loader's own notes.
///
/// The savers are told to strip as well, but libvips 8.14.1 writes EXIF and profile into WebP all the same, and a place
/// where somebody took a photograph must not depend on a saver's option.
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
