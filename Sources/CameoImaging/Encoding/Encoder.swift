internal import CameoModel
internal import Foundation

/// Pixels to bytes, as the plan's rendition wants them.
enum Encoder {
    /// The picture must be in memory and have 8 bits a band: grey or colour, with alpha or without, the frames of an
    /// animation below one another. Throws ``ImagingError/tooManyBytes(limit:smallest:)`` where no quality makes it fit.
    static func encode(_ picture: borrowing VipsPicture, _ plan: RenditionPlan) throws(ImagingError) -> EncodedBytes {
        let output = try OutputPicture(picture, plan)
        let bytes = try chosen(output, plan, isFlat: AutoChoice.mayBeLossless(picture, plan))
        if let limit = plan.rendition.encoding.maxBytes, bytes.count > limit {
            throw .tooManyBytes(limit: limit, smallest: bytes.count)
        }
        return EncodedBytes(bytes: bytes, hasAlpha: output.hasAlpha)
    }

    /// The file that is best among those that fit, else the smallest that was found.
    private static func chosen(
        _ output: borrowing OutputPicture,
        _ plan: RenditionPlan,
        isFlat: Bool
    ) throws(ImagingError) -> Data {
        let first = try output.encoded(by: plan.saver(quality: plan.quality))
        if isFlat {
            let lossless = try output.encoded(by: AutoChoice.losslessSaver(for: plan))
            // It is the better one as well.
            let fits = lossless.count <= plan.rendition.encoding.maxBytes ?? .max
            if lossless.count < first.count, fits { return lossless }
        }
        guard let limit = plan.rendition.encoding.maxBytes, let quality = plan.quality else { return first }
        var search = QualitySearch(limit: limit, highest: quality, first: first)
        while let next = search.next { search.note(try output.encoded(by: plan.saver(quality: next)), at: next) }
        return search.best
    }
}
