package import CameoModel

extension RendererPool {
    /// Makes all renditions of a picture or of a video, or none; see
    /// ``render(_:of:holding:overlays:named:scopes:timeout:clock:)``. Each moment of a video that the renditions name is
    /// decoded once.
    package func render(
        _ renditions: [Rendition],
        of source: OpenFile,
        holding kind: SourceKind,
        overlays: [RenderOverlay],
        named name: String,
        scopes: Set<RequestScope>,
        clock: WorkClock,
        frames: VideoFrames?
    ) async throws -> RenderedPicture {
        guard let frames, kind == .file, VideoContainer(sniffing: source) != nil else {
            return try await render(
                renditions,
                of: source,
                holding: kind,
                overlays: overlays,
                named: name,
                scopes: scopes,
                clock: clock
            )
        }
        var made: [Int: EncodedRendition] = [:]
        var last: (picture: RenderedPicture, facts: PictureFacts)?
        for (moment, indices) in Dictionary(grouping: renditions.indices, by: { VideoMoment(renditions[$0]) }) {
            let frame = try await frames.frame(
                of: source,
                showing: moment,
                named: name,
                scopes: scopes,
                clock: clock
            )
            let picture = try await render(
                indices.map { renditions[$0] },
                of: frame.file,
                holding: .video,
                overlays: overlays,
                named: name,
                scopes: scopes,
                clock: clock
            )
            for (index, rendition) in zip(indices, picture.renditions) { made[index] = rendition }
            last = (picture, frame.facts)
        }
        guard let last else { preconditionFailure("a request has renditions") }
        return RenderedPicture(
            renditions: renditions.indices.compactMap { made[$0] },
            source: last.facts,
            isTruncated: false,
            rendererVersion: last.picture.rendererVersion
        )
    }
}
