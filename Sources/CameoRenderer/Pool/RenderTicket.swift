internal import CameoModel
internal import CameoRenderMessages

/// One picture to render, with the continuation that awaits it.
struct RenderTicket: Sendable {
    typealias ID = Int

    let id: ID
    let renditions: [Rendition]
    let source: OpenFile
    let kind: SourceKind
    let overlays: [RenderOverlay]
    let name: String
    /// The scopes of the credentials that opened its pictures.
    let scopes: Set<RequestScope>
    let timeout: Duration?
    /// Whether it gives way to all tickets that are not of the background.
    let isBackground: Bool
    /// The clock of the waiting task, restarted when a renderer takes the picture.
    let clock: WorkClock
    let continuation: CheckedContinuation<RenderedPicture, any Error>

    /// The source and its overlays, in the order of a job's descriptors.
    var files: [OpenFile] { [source] + overlays.map(\.file) }

    /// The kinds of the files' contents.
    var kinds: [SourceKind] { [kind] + overlays.map(\.kind) }

    func job(_ configuration: RendererConfiguration) -> JobMessage {
        // A picture inside a data URI can be as long as the request: the renderer, which has its file, gets a short
        // name for it. Other names are sent unchanged, because messages may need them.
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
