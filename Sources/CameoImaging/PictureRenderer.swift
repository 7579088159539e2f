package import CameoModel
internal import Foundation

/// Makes all renditions of one source in the calling thread, from one decode unless they ask for different pages.
package struct PictureRenderer {
    private let limits: RenderLimits
    /// The optional formats that may be decoded.
    package var allowedFormats: Set<PictureFormat> = []
    /// Whether a truncated source is rendered as far as it goes.
    package var toleratesTruncation = false
    /// Told the index of the rendition that is made next; nil when it, and others from the same decode, are made or have failed.
    package var begins: (Int?) -> Void = { _ in }

    package init(limits: RenderLimits) { self.limits = limits }

    /// Makes all renditions or none, and reports the facts of the source.
    package func render(
        _ renditions: [Rendition],
        of source: borrowing SourceMapping,
        overlays: [OverlaySource] = []
    ) throws(ImagingError) -> RenderedPicture {
        VipsLibrary.forgetErrors()
        var rules = SourceRules(limits: limits, allowedFormats: allowedFormats)
        let overlayCache = OverlayCache(overlays, rules)
        do throws(ImagingError) {
            return try render(renditions, of: source, overlayCache, rules)
        } catch {
            guard let format = error.damaged else { throw error }
            if let form = SampleForm.unsupported(in: source.bytes, as: format) { throw .unsupportedPixels(form) }
            guard toleratesTruncation, Truncation.isCutOff(source.bytes, as: format) else { throw error }
            rules.toleratesDamage = true
            return try render(renditions, of: source, overlayCache, rules)
        }
    }

    private func render(
        _ renditions: [Rendition],
        of source: borrowing SourceMapping,
        _ overlayCache: OverlayCache,
        _ rules: SourceRules
    ) throws(ImagingError) -> RenderedPicture {
        let reader = try SourceReader(source, rules)
        let header = try reader.header()
        var facts = reader.facts(header)
        facts.omitted = reader.omittedParts(header)
        var firstPage: VipsPicture? = header
        var made: [EncodedRendition?] = Array(repeating: nil, count: renditions.count)
        for group in RenditionGroup.groups(of: renditions, facts) {
            defer { begins(nil) }
            let wanted = group.indices.map { renditions[$0] }
            let (shared, trimmed) = try decode(wanted, group, reader, facts, &firstPage)
            for index in group.indices {
                begins(index)
                let plan = try RenditionPlan(
                    renditions[index],
                    of: shared,
                    trimmed: renditions[index].trim.flatMap { trimmed[$0] },
                    overlay: try overlayCache.picture(for: renditions[index]),
                    limits: limits
                )
                made[index] = try plan.made()
            }
        }
        return RenderedPicture(source: facts, isTruncated: rules.toleratesDamage, renditions: made.compactMap(\.self))
    }

    /// Decodes what all renditions of a group are made from, and the trimmed areas by what the renditions trim.
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
            let shape = SourceShape(size: facts.size, canvas: facts.size, format: facts.format)
            let shared = try SourceDecoder(reader: reader, shape: shape).animation(facts, keepsProfile: keepsProfile)
            return (shared, try trim(renditions, shared))
        }
        guard group.page < facts.pages else {
            let pages = "\(facts.pages) \(facts.pages == 1 ? "page" : "pages")"
            throw ImagingError(.noSuchPage, "has \(pages), so there is no page \(group.page) (pages count from 0)")
        }
        let header =
            if group.page == 0, let opened = firstPage.take() { opened } else { try reader.header(page: group.page) }
        let shape = reader.shape(header)
        // The frame of a video may have been made smaller already.
        let made = PictureFacts(header, format: reader.format).size
        let isSmaller = made.width < shape.size.width || made.height < shape.size.height
        func size(_ trimmed: [Int: TrimmedArea] = [:]) throws(ImagingError) -> PixelSize {
            let size = try SharedSize.size(for: renditions, of: shape, trimmed: trimmed, limit: limits.pixels)
            return isSmaller ? PixelSize(min(size.width, made.width), min(size.height, made.height)) : size
        }
        func decoded(_ header: consuming VipsPicture, at size: PixelSize) throws(ImagingError) -> SharedPicture {
            let kept = EarlyCut.kept(for: renditions, of: shape, at: size, isTurnedSideways: header.isTurnedSideways)
            return try SourceDecoder(reader: reader, shape: shape)
                .page(group.page, header: header, at: size, keeping: kept, keepsProfile: keepsProfile)
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

    private func trim(_ renditions: [Rendition], _ shared: SharedPicture) throws(ImagingError) -> [Int: TrimmedArea] {
        var areas: [Int: TrimmedArea] = [:]
        for threshold in Set(renditions.compactMap(\.trim)) {
            let frame = try shared.frame(0, inSourceProfile: false)
            guard let box = TrimSearch.box(in: frame, threshold: threshold) else {
                throw .processingFailed(step: "trim")
            }
            areas[threshold] = TrimmedArea(box: box, frame: shared.frameSize)
        }
        return areas
    }
}

/// Makes the rendition: runs every frame through the steps, then encodes.
extension RenditionPlan {
    func made() throws(ImagingError) -> EncodedRendition {
        var plan = self
        plan.cut = try Cut.chosenByPixels(of: try frame(0), self)
        let first = try plan.finished(0)
        let placeholder = try placeholder(of: first)
        return try plan.encoded(first, placeholder)
    }

    /// Computes the placeholder in sRGB, even if the thumbnail keeps another profile.
    private func placeholder(of first: borrowing VipsPicture) throws(ImagingError) -> Placeholder {
        guard keepsSourceProfile, let profile = source.header.metadata(.profile),
            let converted = first.converted(byProfile: profile), let shown = converted.materialized()
        else { return try PlaceholderMaker.placeholder(of: first) }
        return try PlaceholderMaker.placeholder(of: shown)
    }

    private func frame(_ index: Int) throws(ImagingError) -> VipsPicture {
        try source.frame(index, inSourceProfile: keepsSourceProfile)
    }

    private func finished(_ index: Int) throws(ImagingError) -> VipsPicture {
        try Self.inMemory(try RenderPipeline.process(try frame(index), self))
    }

    /// Encodes the first frame and, for an animation, all that follow.
    private func encoded(
        _ first: consuming VipsPicture,
        _ placeholder: Placeholder
    ) throws(ImagingError) -> EncodedRendition {
        guard let animation else { return try Encoder.encode(first, self, placeholder) }
        let count = sheet.map { $0.columns(of: animation.frames) * $0.rows(of: animation.frames) }
        guard var frames = VipsFrames(count: count ?? animation.frames, like: first) else { throw .outOfMemory }
        var isComplete = frames.append(first)
        for index in 1..<animation.frames where isComplete { isComplete = frames.append(try finished(index)) }
        // All frames have the same size, so only a lack of memory can fail here.
        guard isComplete, let roll = frames.stacked() else { throw .outOfMemory }
        guard let sheet, let count else { return try Encoder.encode(roll, self, placeholder) }
        let tiles = roll.grid(frames: count, columns: sheet.columns(of: animation.frames))
        return try Encoder.encode(try Self.inMemory(try .result(of: "storyboard", tiles)), self, placeholder)
    }

    /// Materializes the picture, because placeholder, size search and encoder each read it.
    private static func inMemory(_ picture: consuming VipsPicture) throws(ImagingError) -> VipsPicture {
        try .result(of: "pixels", picture.materialized())
    }
}
