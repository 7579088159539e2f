internal import CameoModel
internal import CameoRenderMessages
internal import Glibc
internal import Synchronization

/// Makes frames of videos with `cameo-frames`, a program of its own that need not be installed.
///
/// DESIGN: a `cameo-frames` process is run, limited and distrusted as a renderer is, by the same pool; its answer to a
/// job is one rendition, an uncompressed PNG. The first video starts the pool, so a worker that meets none pays
/// nothing. The frame goes on to a renderer like any source.
package final class VideoFrames: Sendable {
    private struct State {
        var pool: RendererPool?
        var isEnding = false
        var isShutDown = false
    }

    private let configuration: RendererConfiguration
    private let state = Mutex(State())

    /// - Parameter configuration: the renderers' configuration, with another executable.
    package init(_ configuration: RendererConfiguration) {
        var configuration = configuration
        // A frame may be 16 megapixels, at 16 bits a channel 8.
        configuration.maximumOutputBytes = RendererProtocol.maximumOutputBytes
        configuration.maximumTotalOutputBytes = RendererProtocol.maximumOutputBytes
        configuration.toleratesTruncation = false
        configuration.allowedFormats = []
        configuration.makesFrames = true
        self.configuration = configuration
    }

    /// What a rendition shows, as a sealed memory file for a renderer, and the facts of the video.
    ///
    /// - Throws: `JobFailure` of stage `render`, or `CancellationError`.
    func frame(
        of source: OpenFile,
        showing moment: VideoMoment,
        named name: String,
        scopes: Set<RequestScope>,
        clock: WorkClock
    ) async throws -> (file: OpenFile, facts: PictureFacts) {
        var whole = Rendition(
            name: "frame",
            width: Rendition.edgeRange.upperBound,
            height: Rendition.edgeRange.upperBound,
            format: .png
        )
        switch moment {
        case .frame(let time): whole.time = time
        case .several(let storyboard): whole.storyboard = storyboard
        }
        let picture = try await pool(for: name)
            .render([whole], of: source, holding: .video, named: name, scopes: scopes, clock: clock)
        do throws(Errno) {
            return (try OpenFile.memory(containing: picture.renditions[0].bytes), picture.source)
        } catch {
            throw JobFailure(
                .renderFailed,
                at: .render,
                "\(name): no memory for its frame: \(error)",
                isRetryable: true
            )
        }
    }

    private func pool(for name: String) throws -> RendererPool {
        guard access(configuration.executable, X_OK) == 0 else {
            let missing =
                "\(name) is a video, and \(configuration.executable), which makes frames of videos, is missing"
            throw JobFailure(.imageUnsupportedFormat, at: .render, missing)
        }
        return try state.withLock { state in
            guard !state.isShutDown else { throw CancellationError() }
            if let pool = state.pool { return pool }
            do {
                let pool = try RendererPool(configuration)
                if state.isEnding { pool.expectEnd() }
                state.pool = pool
                return pool
            } catch let error as RendererUnavailable {
                throw RenderFailure.cannotStart("\(error)", source: name)
            }
        }
    }

    /// Does as ``RendererPool/expectEnd()``.
    package func expectEnd() {
        state.withLock { state in
            state.isEnding = true
            state.pool?.expectEnd()
        }
    }

    /// Does as ``RendererPool/shutdown()``.
    package func shutdown() async {
        let pool = state.withLock { state in
            state.isShutDown = true
            return state.pool
        }
        await pool?.shutdown()
    }
}
