/// Evaluates libvips' lazy pipeline, from the decoder on, into memory. Damage behind the file's header surfaces in this
/// step and in no other.
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
