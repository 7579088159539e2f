package import CameoModel

/// Makes all renditions of one source, from one decode, in the calling thread.
package struct PictureRenderer {
    /// Width × height of a source, and of a rendition before it is cut.
    package let maximumPixels: Int

    package init(maximumPixels: Int) {
        self.maximumPixels = maximumPixels
    }

    /// All renditions or none, in the order asked for, and what the source turned out to be.
    package func render(
        _ renditions: [Rendition],
        of source: borrowing SourceMapping
    ) throws(ImagingError) -> (facts: PictureFacts, renditions: [EncodedRendition]) {
        let bytes = source.bytes
        let format = try PictureFormat.sniffed(from: bytes)
        let header = try open(bytes, as: format, shrink: .none)
        let stored = PixelSize(header.width, header.height)
        guard stored.width * stored.height <= maximumPixels else {
            throw .tooManyPixels(width: stored.width, height: stored.height, limit: maximumPixels)
        }

        let upright = header.isTurnedSideways ? stored.turned : stored
        let facts = PictureFacts(format: format, size: upright, pages: header.pages, hasAlpha: header.hasAlpha)
        var plans: [RenditionPlan] = []
        for rendition in renditions {
            plans.append(try RenditionPlan(rendition, source: upright, maximumPixels: maximumPixels))
        }

        let sharedUpright = sharedSize(of: plans, source: upright)
        let shared = header.isTurnedSideways ? sharedUpright.turned : sharedUpright
        let decodingBytes = header.decodingBytes
        do throws(ImagingError) {
            var picture = try reopened(header, bytes, as: format, for: shared, stored: stored)
            let preparation = Preparation(format: format, sharedSize: shared)
            for step in RenderPipeline.preparation { picture = try step.apply(to: picture, preparation) }

            var encoded: [EncodedRendition] = []
            for plan in plans { encoded.append(try make(plan, from: picture)) }
            return (facts, encoded)
        } catch {
            // A decoder that asked in vain for one large piece says the same as one that met a damaged file.
            guard AddressSpace.hasRoom(for: decodingBytes) else { throw .outOfMemory }
            throw error
        }
    }

    private func make(
        _ plan: RenditionPlan,
        from shared: borrowing VipsPicture
    ) throws(ImagingError) -> EncodedRendition {
        var picture = shared.sharingReference()
        for step in RenderPipeline.rendition { picture = try step.apply(to: picture, plan) }
        return try Encoder.encode(picture, plan)
    }

    private func open(
        _ bytes: UnsafeRawBufferPointer,
        as format: PictureFormat,
        shrink: ShrinkOnLoad
    ) throws(ImagingError) -> VipsPicture {
        guard let picture = VipsPicture(opening: bytes, as: format, shrink: shrink) else {
            throw .corrupt(format, detail: VipsLibrary.takeErrorText())
        }
        return picture
    }

    /// The same source again where its decoder can shrink it, else what is already open.
    private func reopened(
        _ header: consuming VipsPicture,
        _ bytes: UnsafeRawBufferPointer,
        as format: PictureFormat,
        for shared: PixelSize,
        stored: PixelSize
    ) throws(ImagingError) -> VipsPicture {
        let shrink = ShrinkOnLoad(for: format, from: stored, to: shared)
        guard shrink != .none else { return header }
        return try open(bytes, as: format, shrink: shrink)
    }

    /// The smallest size that no rendition exceeds on either axis; never larger than the source.
    private func sharedSize(of plans: [RenditionPlan], source: PixelSize) -> PixelSize {
        let sizes = plans.map(\.geometry.resized)
        return PixelSize(
            min(source.width, sizes.map(\.width).max() ?? source.width),
            min(source.height, sizes.map(\.height).max() ?? source.height)
        )
    }
}
