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

    /// How often the frame of a partial video is tried although nothing new has arrived. Another job may have loaded what
    /// was missing.
    private static let idleTries = 3

    /// The frame of which these renditions, at least one and all of the same moment, are made. `parts` loads what is missing
    /// of the source; nil if nothing is.
    ///
    /// - Throws: `JobFailure`, of stage `render` if not by `parts`, or `CancellationError`.
    func frame(
        of source: OpenFile,
        loading parts: (any VideoParts)?,
        for renditions: [Rendition],
        named name: String,
        scopes: Set<RequestScope>,
        clock: WorkClock
    ) async throws -> Frame {
        let wanted = Rendition.frame(for: renditions)
        let pool = try pool(for: name)
        var idleTries = 0
        while true {
            do {
                let kind: SourceKind = parts == nil ? .video : .partialVideo
                let picture =
                    try await pool
                    .render([wanted], of: source, holding: kind, named: name, scopes: scopes, clock: clock)
                return try Self.frame(picture, named: name)
            } catch let missing as MissingBytes {
                let isMore = try await parts?.load(missing.offsets, clock) ?? false
                idleTries = isMore ? 0 : idleTries + 1
                guard idleTries < Self.idleTries else {
                    throw RenderFailure.misbehaved(MalformedMessage("it lacks bytes that are there"), source: name)
                }
            }
        }
    }

    private static func frame(_ picture: RenderedPicture, named name: String) throws(JobFailure) -> Frame {
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
