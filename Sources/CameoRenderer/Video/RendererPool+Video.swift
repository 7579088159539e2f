package import CameoModel

extension RendererPool {
    /// Makes all renditions of a picture or of a video, or none; see
    /// ``render(_:of:holding:overlays:named:scopes:isBackground:timeout:clock:)``. Each moment of a video that the
    /// renditions name is decoded once.
    package func render(
        _ renditions: [Rendition],
        of source: OpenFile,
        holding kind: SourceKind,
        overlays: [RenderOverlay],
        named name: String,
        scopes: Set<RequestScope>,
        isBackground: Bool = false,
        clock: WorkClock,
        frames: VideoFrames?,
        loading parts: (any VideoParts)? = nil
    ) async throws -> RenderedPicture {
        guard let frames, kind == .file, VideoContainer(sniffing: source) != nil else {
            return try await render(
                renditions,
                of: source,
                holding: kind,
                overlays: overlays,
                named: name,
                scopes: scopes,
                isBackground: isBackground,
                clock: clock
            )
        }
        var made: [Int: EncodedRendition] = [:]
        var last: (picture: RenderedPicture, frame: VideoFrames.Frame)?
        for indices in Dictionary(grouping: renditions.indices, by: { VideoMoment(renditions[$0]) }).values {
            let wanted = indices.map { renditions[$0] }
            let frame = try await frames.frame(
                of: source,
                loading: parts,
                for: wanted,
                named: name,
                scopes: scopes,
                clock: clock
            )
            let picture = try await render(
                wanted,
                of: frame.file,
                holding: .video,
                overlays: overlays,
                named: name,
                scopes: scopes,
                isBackground: isBackground,
                clock: clock
            )
            for (index, var rendition) in zip(indices, picture.renditions) {
                rendition.source = frame.facts
                made[index] = rendition
            }
            last = (picture, frame)
        }
        guard let last else { preconditionFailure("a request has renditions") }
        return RenderedPicture(
            renditions: renditions.indices.compactMap { made[$0] },
            source: last.frame.facts,
            isTruncated: false,
            rendererVersion: Self.version(last.picture.rendererVersion, last.frame.version)
        )
    }

    /// The version that pictures of a source rendered now would have; nil if it is not known yet, or the source is a video
    /// and no frame can be made of it.
    package func version(of source: OpenFile, holding kind: SourceKind, frames: VideoFrames?) async -> String? {
        guard let frames, kind == .file, VideoContainer(sniffing: source) != nil else { return rendererVersion }
        guard let own = rendererVersion, let other = await frames.version() else { return nil }
        return Self.version(own, other)
    }

    private static func version(_ renderer: String, _ frames: String) -> String { "\(renderer) \(frames)" }
}
