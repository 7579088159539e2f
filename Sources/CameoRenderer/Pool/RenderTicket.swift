internal import CameoModel
internal import CameoRenderMessages

/// One picture to render, and who waits for it.
struct RenderTicket: Sendable {
    typealias ID = Int

    let id: ID
    let renditions: [Rendition]
    let source: OpenFile
    let kind: SourceKind
    let overlays: [RenderOverlay]
    let name: String
    /// Whose credentials opened its pictures.
    let scopes: Set<RequestScope>
    let timeout: Duration?
    /// Of whoever waits; told when a renderer takes the picture.
    let clock: WorkClock
    let continuation: CheckedContinuation<RenderedPicture, any Error>

    /// The source and its overlays, in the order in which a job's descriptors travel.
    var files: [OpenFile] { [source] + overlays.map(\.file) }

    /// What they hold.
    var kinds: [SourceKind] { [kind] + overlays.map(\.kind) }

    func job(_ configuration: RendererConfiguration) -> JobMessage {
        // A picture in the source can be as long as a request: the renderer, which has the file, is told a short name
        // for it. Any other name it may need for a message.
        let names = overlays.enumerated().map { index, overlay in
            InlinePicture.isIn(overlay.source) ? "data:,overlay-\(index)" : overlay.source
        }
        let nameOfSource = Dictionary(zip(overlays.map(\.source), names)) { first, _ in first }
        return JobMessage(
            renditions: renditions.map { rendition in
                var rendition = rendition
                if let overlay = rendition.look.overlay, let name = nameOfSource[overlay.source] {
                    rendition.look.overlay?.source = name
                }
                return rendition
            },
            overlays: names,
            kinds: kinds,
            limits: configuration.limits,
            toleratesTruncation: configuration.toleratesTruncation,
            maximumOutputBytes: configuration.maximumOutputBytes,
            maximumTotalOutputBytes: configuration.maximumTotalOutputBytes
        )
    }
}
