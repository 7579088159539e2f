internal import CameoModel

/// One picture to render, and who waits for it.
struct RenderTicket: Sendable {
    typealias ID = Int

    let id: ID
    let renditions: [Rendition]
    let source: OpenFile
    let name: String
    let timeout: Duration?
    let continuation: CheckedContinuation<RenderedPicture, any Error>
}
