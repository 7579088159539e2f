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

    /// A PNG for a renderer, the facts of the video, and the version of what made it.
    struct Frame {
        let file: OpenFile
        let facts: PictureFacts
        let version: String
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

    /// The frame of which these renditions, at least one and all of the same moment, are made.
    ///
    /// - Throws: `JobFailure` of stage `render`, or `CancellationError`.
    func frame(
        of source: OpenFile,
        for renditions: [Rendition],
        named name: String,
        scopes: Set<RequestScope>,
        clock: WorkClock
    ) async throws -> Frame {
        let wanted = Rendition.frame(for: renditions)
        let picture = try await pool(for: name)
            .render([wanted], of: source, holding: .video, named: name, scopes: scopes, clock: clock)
        do throws(Errno) {
            let file = try OpenFile.memory(containing: picture.renditions[0].bytes)
            return Frame(file: file, facts: picture.source, version: picture.rendererVersion)
        } catch {
            throw JobFailure(
                .renderFailed,
                at: .render,
                "\(name): no memory for its frame: \(error)",
                isRetryable: true
            )
        }
    }

    /// The version of what makes frames; nil if it cannot be run. The first call starts it.
    func version() async -> String? {
        guard let pool = try? pool(for: "") else { return nil }
        try? await pool.waitUntilReady()
        return pool.rendererVersion
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
