internal import CameoModel
internal import Foundation

/// Encodes pixels as the plan's rendition asks.
enum Encoder {
    /// The picture must be in memory with 8 bits per band: grey or colour, with or without alpha, the frames of an
    /// animation stacked vertically. Throws ``ImagingError/tooManyBytes(limit:smallest:)`` if no quality makes it fit.
    static func encode(_ picture: borrowing VipsPicture, _ plan: RenditionPlan) throws(ImagingError) -> EncodedBytes {
        let output = try OutputPicture(picture, plan)
        let bytes = try chosen(output, plan, isFlat: AutoChoice.mayBeLossless(picture, plan))
        if let limit = plan.rendition.encoding.maxBytes, bytes.count > limit {
            throw .tooManyBytes(limit: limit, smallest: bytes.count)
        }
        return EncodedBytes(bytes: bytes, hasAlpha: output.hasAlpha)
    }

    /// The best file among those that fit, else the smallest that was found.
    private static func chosen(
        _ output: borrowing OutputPicture,
        _ plan: RenditionPlan,
        isFlat: Bool
    ) throws(ImagingError) -> Data {
        let first = try output.encoded(by: plan.saver(quality: plan.quality))
        if isFlat {
            let lossless = try output.encoded(by: AutoChoice.losslessSaver(for: plan))
            // Lossless is also the better picture.
            let fits = lossless.count <= plan.rendition.encoding.maxBytes ?? .max
            if lossless.count < first.count, fits { return lossless }
        }
        guard let limit = plan.rendition.encoding.maxBytes, let quality = plan.quality else { return first }
        var search = QualitySearch(limit: limit, highest: quality, first: first)
        while let next = search.next { search.note(try output.encoded(by: plan.saver(quality: next)), at: next) }
        return search.best
    }
}
