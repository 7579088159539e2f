package import CameoModel
internal import Foundation

/// Makes all renditions of one source in the calling thread, from one decode unless they ask for different pages.
package struct PictureRenderer {
    package let limits: RenderLimits
    /// The optional formats that may be decoded.
    package let allowedFormats: Set<PictureFormat>
    /// Whether a truncated source is rendered as far as it goes.
    package let toleratesTruncation: Bool

    package init(
        limits: RenderLimits = RenderLimits(),
        allowedFormats: Set<PictureFormat> = [],
        toleratesTruncation: Bool = false
    ) {
        self.limits = limits
        self.allowedFormats = allowedFormats
        self.toleratesTruncation = toleratesTruncation
    }

    /// Makes all renditions or none, and reports the facts of the source.
    package func render(
        _ renditions: [Rendition],
        of source: borrowing SourceMapping,
        overlays: [OverlaySource] = []
    ) throws(ImagingError) -> RenderedSet {
        VipsLibrary.forgetErrors()
        let overlayCache = OverlayCache(overlays, allowing: allowedFormats, limits: limits)
        do throws(ImagingError) {
            return try render(renditions, of: source, overlayCache, toleratesDamage: false)
        } catch .corrupt(let format, let detail) {
            if let form = SampleForm.unsupported(in: source.bytes, as: format) { throw .unsupportedPixels(form) }
            guard toleratesTruncation, Truncation.isCutOff(source.bytes, as: format) else {
                throw .corrupt(format, detail: detail)
            }
            return try render(renditions, of: source, overlayCache, toleratesDamage: true)
        }
    }

    private func render(
        _ renditions: [Rendition],
        of source: borrowing SourceMapping,
        _ overlayCache: OverlayCache,
        toleratesDamage: Bool
    ) throws(ImagingError) -> RenderedSet {
        let reader = try SourceReader(
            source,
            allowing: allowedFormats,
            limits: limits,
            toleratesDamage: toleratesDamage
        )
        let header = try reader.header()
        var facts = reader.facts(header)
        facts.omitted = reader.omittedParts(header)
        var firstPage: VipsPicture? = header
        var made: [EncodedRendition?] = Array(repeating: nil, count: renditions.count)
        for group in RenditionGroup.groups(of: renditions, facts) {
            let wanted = group.indices.map { renditions[$0] }
            let (shared, trimmed) = try decode(wanted, group, reader, facts, &firstPage)
            let maker = RenditionMaker(shared: shared)
            for (position, index) in group.indices.enumerated() {
                let plan = try RenditionPlan(
                    renditions[index],
                    of: shared,
                    trimmed: trimmed[position],
                    overlay: try overlayCache.picture(for: renditions[index]),
                    limits: limits
                )
                made[index] = try maker.make(plan)
            }
        }
        return RenderedSet(facts: facts, isTruncated: toleratesDamage, renditions: made.compactMap(\.self))
    }

    /// Decodes what all renditions of a group are made from, and the trimmed area of each rendition that trims, by its
    /// index.
    ///
    /// Reuses the first page, already open for the facts, if it is the group's: opening a vector drawing means parsing
    /// it.
    private func decode(
        _ renditions: [Rendition],
        _ group: RenditionGroup,
        _ reader: SourceReader,
        _ facts: PictureFacts,
        _ firstPage: inout VipsPicture?
    ) throws(ImagingError) -> (SharedPicture, trimmed: [Int: TrimmedArea]) {
        let keepsProfile = renditions.contains(where: \.encoding.keepProfile)
        if group.isAnimated {
            let shared = try SourceDecoder(reader: reader, facts: facts).animation(keepsProfile: keepsProfile)
            return (shared, try trim(renditions, shared))
        }
        guard group.page < facts.pages else { throw .noSuchPage(group.page, pages: facts.pages) }
        let header: VipsPicture
        if group.page == 0, let opened = firstPage.take() {
            header = opened
        } else {
            header = try reader.header(page: group.page)
        }
        let (page, canvas) = (reader.facts(header), reader.canvas(header))
        // The frame of a video may have been made smaller already.
        let made = PictureFacts(header, format: reader.format).size
        let isSmaller = made.width < page.width || made.height < page.height
        func size(_ trimmed: [Int: TrimmedArea] = [:]) throws(ImagingError) -> PixelSize {
            let size = try SharedSize.size(
                for: renditions,
                of: page.size,
                canvas: canvas,
                format: reader.format,
                trimmed: trimmed,
                limit: limits.pixels
            )
            return isSmaller ? PixelSize(min(size.width, made.width), min(size.height, made.height)) : size
        }
        func decoded(_ header: consuming VipsPicture, at size: PixelSize) throws(ImagingError) -> SharedPicture {
            let kept = EarlyCut.kept(
                for: renditions,
                of: page.size,
                format: reader.format,
                at: size,
                isTurnedSideways: header.isTurnedSideways
            )
            return try SourceDecoder(reader: reader, facts: page)
                .page(group, header: header, at: size, keeping: kept, keepsProfile: keepsProfile)
        }
        let shared = try decoded(header, at: try size())
        let trimmed = try trim(renditions, shared)
        guard !trimmed.isEmpty else { return (shared, [:]) }
        // If little is left of a large picture, it has to be decoded at a larger size than the trim search used.
        let needed = try size(trimmed)
        guard needed.width > shared.frameSize.width || needed.height > shared.frameSize.height else {
            return (shared, trimmed)
        }
        return (try decoded(try reader.header(page: group.page), at: needed), trimmed)
    }

    private func trim(
        _ renditions: [Rendition],
        _ shared: SharedPicture
    ) throws(ImagingError) -> [Int: TrimmedArea] {
        var areas: [Int: TrimmedArea] = [:]
        for threshold in Set(renditions.compactMap(\.trim)) {
            let box = try TrimSearch.box(in: try shared.frame(0, inSourceProfile: false), threshold: threshold)
            areas[threshold] = TrimmedArea(box: box, frame: shared.frameSize)
        }
        var trimmed: [Int: TrimmedArea] = [:]
        for (index, rendition) in renditions.enumerated() { trimmed[index] = rendition.trim.flatMap { areas[$0] } }
        return trimmed
    }
}

/// Makes one rendition of a decoded source: runs every frame through the steps, then encodes.
struct RenditionMaker {
    let shared: SharedPicture

    func make(_ plan: RenditionPlan) throws(ImagingError) -> EncodedRendition {
        var plan = plan
        plan.cut = try Cut.chosenByPixels(of: try frame(0, plan), plan)
        let first = try finished(0, plan)
        let placeholder = try placeholder(of: first, plan)
        let file = try encode(first, plan)
        let frames = plan.animation?.frames ?? 1
        let size = plan.sheet?.size(of: plan.geometry.final, tiles: frames) ?? plan.geometry.final
        return EncodedRendition(
            bytes: file.bytes,
            width: size.width,
            height: size.height,
            format: plan.format,
            hasAlpha: file.hasAlpha,
            frames: plan.sheet == nil && frames > 1 ? try Self.frames(in: file.bytes, plan) : 1,
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
        guard plan.keepsSourceProfile, let profile = plan.source.header.metadata(.profile),
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
    private func encode(
        _ first: consuming VipsPicture,
        _ plan: RenditionPlan
    ) throws(ImagingError) -> Encoder.File {
        guard let animation = plan.animation else { return try Encoder.encode(first, plan) }
        let count = plan.sheet.map { $0.columns(of: animation.frames) * $0.rows(of: animation.frames) }
        guard var frames = VipsFrames(count: count ?? animation.frames, like: first) else { throw .outOfMemory }
        var isComplete = frames.append(first)
        for index in 1..<animation.frames where isComplete { isComplete = frames.append(try finished(index, plan)) }
        // All frames have the same size, so only a lack of memory can fail here.
        guard isComplete, let roll = frames.stacked() else { throw .outOfMemory }
        guard let sheet = plan.sheet, let count else { return try Encoder.encode(roll, plan) }
        let tiles = roll.grid(frames: count, columns: sheet.columns(of: animation.frames))
        return try Encoder.encode(try inMemory(try .result(of: "storyboard", tiles)), plan)
    }

    /// Materializes the picture, because placeholder, size search and encoder each read it.
    private func inMemory(_ picture: consuming VipsPicture) throws(ImagingError) -> VipsPicture {
        try .result(of: "pixels", picture.materialized())
    }
}

package struct RenderedSet: Sendable {
    package let facts: PictureFacts
    /// Whether the source is truncated, so that the renditions show only what there is.
    package let isTruncated: Bool
    /// The renditions, in the order requested.
    package let renditions: [EncodedRendition]
}
