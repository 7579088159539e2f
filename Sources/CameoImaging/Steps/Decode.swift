/// Runs everything noted so far, from the decoder on. A file that is damaged behind its header fails here, and nothing
/// else does.
enum Decode: PreparationStep {
    static func apply(
        to picture: consuming VipsPicture,
        _ preparation: Preparation
    ) throws(ImagingError) -> VipsPicture {
        guard let decoded = picture.materialized() else {
            throw .corrupt(preparation.format, detail: VipsLibrary.takeErrorText())
        }
        return decoded
    }
}
