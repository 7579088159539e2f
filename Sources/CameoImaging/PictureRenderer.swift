package import CameoModel

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
        let facts = reader.facts(header)
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
        func decoded(
            _ header: consuming VipsPicture,
            _ page: PictureFacts,
            at size: PixelSize
        ) throws(ImagingError) -> SharedPicture {
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
        func size(
            _ page: PictureFacts,
            _ canvas: PixelSize,
            _ trimmed: [Int: TrimmedArea] = [:]
        ) throws(ImagingError) -> PixelSize {
            try SharedSize.size(
                for: renditions,
                of: page.size,
                canvas: canvas,
                format: reader.format,
                trimmed: trimmed,
                limit: limits.pixels
            )
        }
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
        func limited(_ size: PixelSize) -> PixelSize {
            isSmaller ? PixelSize(min(size.width, made.width), min(size.height, made.height)) : size
        }
        let shared = try decoded(header, page, at: limited(try size(page, canvas)))
        let trimmed = try trim(renditions, shared)
        guard !trimmed.isEmpty else { return (shared, [:]) }
        // If little is left of a large picture, it has to be decoded at a larger size than the trim search used.
        let needed = limited(try size(page, canvas, trimmed))
        guard needed.width > shared.frameSize.width || needed.height > shared.frameSize.height else {
            return (shared, trimmed)
        }
        return (try decoded(try reader.header(page: group.page), page, at: needed), trimmed)
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
