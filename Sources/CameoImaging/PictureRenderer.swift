package import CameoModel

/// Makes all renditions of one source in the calling thread: from one decode, unless they ask for different pages.
package struct PictureRenderer {
    package let limits: RenderLimits
    /// Of the optional formats.
    package let allowedFormats: Set<PictureFormat>
    /// Whether a source that lacks its end gives renditions of what there is.
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

    /// All renditions or none, and what the source turned out to be.
    package func render(
        _ renditions: [Rendition],
        of source: borrowing SourceMapping,
        overlays: [OverlaySource] = []
    ) throws(ImagingError) -> RenderedSet {
        let shelf = OverlayShelf(overlays, allowing: allowedFormats, limits: limits)
        let bytes = source.bytes
        do throws(ImagingError) {
            return try render(renditions, of: bytes, shelf, toleratesDamage: false)
        } catch .corrupt(let format, let detail) {
            guard toleratesTruncation, Truncation.isCutOff(bytes, as: format) else {
                throw .corrupt(format, detail: detail)
            }
            return try render(renditions, of: bytes, shelf, toleratesDamage: true)
        }
    }

    private func render(
        _ renditions: [Rendition],
        of bytes: UnsafeRawBufferPointer,
        _ shelf: OverlayShelf,
        toleratesDamage: Bool
    ) throws(ImagingError) -> RenderedSet {
        let reader = try SourceReader(
            bytes,
            allowing: allowedFormats,
            limits: limits,
            toleratesDamage: toleratesDamage
        )
        let facts = PictureFacts(try reader.header(), format: reader.format)
        var made: [EncodedRendition?] = Array(repeating: nil, count: renditions.count)
        for group in RenditionGroup.groups(of: renditions, facts) {
            let wanted = group.indices.map { renditions[$0] }
            let shared = try decode(wanted, group, reader, facts)
            let maker = RenditionMaker(shared: shared)
            for index in group.indices {
                made[index] = try maker.make(try plan(renditions[index], of: shared, shelf))
            }
        }
        return RenderedSet(facts: facts, isTruncated: toleratesDamage, renditions: made.compactMap(\.self))
    }

    private func decode(
        _ renditions: [Rendition],
        _ group: RenditionGroup,
        _ reader: SourceReader,
        _ facts: PictureFacts
    ) throws(ImagingError) -> SharedPicture {
        let keepsProfile = renditions.contains(where: \.encoding.keepProfile)
        if group.isAnimated {
            return try SourceDecoder(reader: reader, facts: facts).animation(keepsProfile: keepsProfile)
        }
        guard group.page < facts.pages else { throw .noSuchPage(group.page, pages: facts.pages) }
        let header = try reader.header(page: group.page)
        let page = PictureFacts(header, format: reader.format)
        let size = try SharedSize.size(for: renditions, of: page.size, format: reader.format, limit: limits.pixels)
        return try SourceDecoder(reader: reader, facts: page)
            .page(group, header: header, at: size, keepsProfile: keepsProfile)
    }

    private func plan(
        _ rendition: Rendition,
        of shared: SharedPicture,
        _ shelf: OverlayShelf
    ) throws(ImagingError) -> RenditionPlan {
        var trimmed: PixelArea?
        if let threshold = rendition.trim {
            let box = try TrimSearch.box(in: try shared.frame(0, inSourceProfile: false), threshold: threshold)
            trimmed = box.scaled(from: shared.frameSize, to: shared.sourceSize)
        }
        return try RenditionPlan(
            rendition,
            of: shared,
            trimmed: trimmed,
            overlay: try shelf.picture(for: rendition),
            limits: limits
        )
    }
}
