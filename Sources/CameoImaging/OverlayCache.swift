internal import CameoModel

/// The overlays of a job, each decoded when the first rendition needs it and kept for the others.
final class OverlayCache {
    private let sources: [OverlaySource]
    private let allowedFormats: Set<PictureFormat>
    private let limits: RenderLimits
    private var decoded: [String: OverlayPicture] = [:]

    init(_ sources: [OverlaySource], allowing formats: Set<PictureFormat>, limits: RenderLimits) {
        self.sources = sources
        allowedFormats = formats
        self.limits = limits
    }

    /// The overlay of a rendition, or nil if it has none.
    func picture(for rendition: Rendition) throws(ImagingError) -> OverlayPicture? {
        guard let uri = rendition.look.overlay?.source else { return nil }
        if let known = decoded[uri] { return known }
        guard let source = sources.first(where: { $0.uri == uri }) else {
            throw .overlay(uri, .unreadable("its bytes did not come with the job"))
        }
        do throws(ImagingError) {
            let picture = try decode(source)
            decoded[uri] = picture
            return picture
        } catch {
            throw .overlay(uri, error)
        }
    }

    private func decode(_ source: OverlaySource) throws(ImagingError) -> OverlayPicture {
        let reader = try SourceReader(
            source.mapping,
            allowing: allowedFormats,
            limits: limits
        )
        let header = try reader.header()
        let facts = reader.facts(header)
        let size = OverlayPicture.size(of: reader.canvas(header), reader.format)
        let group = RenditionGroup(page: 0, isAnimated: false, indices: [])
        let shared = try SourceDecoder(reader: reader, facts: facts)
            .page(group, header: header, at: size, keepsProfile: false)
        return try OverlayPicture(shared.frame(0, inSourceProfile: false), namedSize: facts.size)
    }
}
