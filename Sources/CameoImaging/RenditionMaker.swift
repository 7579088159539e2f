internal import CameoModel
internal import Foundation

/// Makes one rendition of a decoded source: runs every frame through the steps, then encodes.
struct RenditionMaker {
    let shared: SharedPicture

    func make(_ plan: RenditionPlan) throws(ImagingError) -> EncodedRendition {
        var plan = plan
        plan.cut = try Cut.chosenByPixels(of: try frame(0, plan), plan)
        let first = try finished(0, plan)
        let placeholder = try placeholder(of: first, plan)
        let encoded = try encode(first, plan)
        let frames = plan.animation?.frames ?? 1
        let size = plan.sheet?.size(of: plan.geometry.final, tiles: frames) ?? plan.geometry.final
        return EncodedRendition(
            bytes: encoded.bytes,
            width: size.width,
            height: size.height,
            format: plan.format,
            hasAlpha: encoded.hasAlpha,
            frames: plan.sheet == nil && frames > 1 ? try Self.frames(in: encoded.bytes, plan) : 1,
            placeholder: placeholder
        )
    }

    /// The number of frames in an encoded animation: encoders merge those that are equal.
    private static func frames(in file: Data, _ plan: RenditionPlan) throws(ImagingError) -> Int {
        let format: PictureFormat = plan.format == .gif ? .gif : .webp
        let frames = file.withUnsafeBytes { VipsPicture(opening: $0, as: format, LoadOptions())?.pages }
        guard let frames else { throw .encodingFailed(VipsLibrary.takeErrorText()) }
        return frames
    }

    /// Computes the placeholder in sRGB, even if the thumbnail keeps another profile.
    private func placeholder(
        of first: borrowing VipsPicture,
        _ plan: RenditionPlan
    ) throws(ImagingError) -> Placeholder {
        guard plan.keepsSourceProfile, let profile = plan.metadata.header.metadata(.profile),
            let converted = first.converted(byProfile: profile), let shown = converted.materialized()
        else { return try PlaceholderMaker.placeholder(of: first) }
        return try PlaceholderMaker.placeholder(of: shown)
    }

    private func frame(_ index: Int, _ plan: RenditionPlan) throws(ImagingError) -> VipsPicture {
        try shared.frame(index, inSourceProfile: plan.keepsSourceProfile)
    }

    private func finished(_ index: Int, _ plan: RenditionPlan) throws(ImagingError) -> VipsPicture {
        try inMemory(try RenderPipeline.process(try frame(index, plan), plan))
    }

    /// Encodes the first frame and, for an animation, all that follow.
    private func encode(_ first: consuming VipsPicture, _ plan: RenditionPlan) throws(ImagingError) -> EncodedBytes {
        guard let animation = plan.animation else { return try Encoder.encode(first, plan) }
        let count = plan.sheet.map { $0.columns(of: animation.frames) * $0.rows(of: animation.frames) }
        var frames = VipsFrames(count: count ?? animation.frames)
        var isComplete = frames.append(first)
        for index in 1..<animation.frames where isComplete { isComplete = frames.append(try finished(index, plan)) }
        // All frames have the same size, so only a lack of memory can fail here.
        guard isComplete, let roll = frames.stacked() else { throw .outOfMemory }
        guard let sheet = plan.sheet, let count else { return try Encoder.encode(roll, plan) }
        guard let tiles = roll.grid(frames: count, columns: sheet.columns(of: animation.frames)) else {
            throw .processingFailed(step: "storyboard", detail: VipsLibrary.takeErrorText())
        }
        return try Encoder.encode(try inMemory(tiles), plan)
    }

    /// Materializes the picture, because placeholder, size search and encoder each read it.
    private func inMemory(_ picture: consuming VipsPicture) throws(ImagingError) -> VipsPicture {
        guard let pixels = picture.materialized() else {
            throw .processingFailed(step: "pixels", detail: VipsLibrary.takeErrorText())
        }
        return pixels
    }
}
