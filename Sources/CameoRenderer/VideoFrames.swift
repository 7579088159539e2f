package import CameoModel
internal import CameoRenderMessages
package import CameoSystem
internal import Glibc
internal import Synchronization

/// Thumbnails of videos, whose frames another program makes.
extension RendererPool {
    /// Makes all renditions of a picture or of a video, or none; see ``render(_:clock:)``. Each moment of a video that the
    /// renditions name is decoded once.
    package func render(
        _ request: RenderRequest,
        frames: VideoFrames?,
        loading parts: (any VideoParts)? = nil,
        clock: WorkClock
    ) async throws -> RenderedPicture {
        guard let frames, request.kind == .file, VideoContainer(sniffing: request.source) != nil else {
            return try await render(request, clock: clock)
        }
        let renditions = request.renditions
        var made: [Int: EncodedRendition] = [:]
        var last: (picture: RenderedPicture, frame: RenderedPicture)?
        for indices in Dictionary(grouping: renditions.indices, by: { VideoMoment(renditions[$0]) }).values {
            var part = request
            part.renditions = indices.map { renditions[$0] }
            let frame = try await frames.frame(for: part, loading: parts, clock)
            (part.source, part.kind) = (try VideoFrames.file(of: frame, named: request.name), .video)
            let picture = try await render(part, clock: clock)
            for (index, var rendition) in zip(indices, picture.renditions) {
                rendition.source = frame.source
                made[index] = rendition
            }
            last = (picture, frame)
        }
        guard let last else { preconditionFailure("a request has renditions") }
        let all = renditions.indices.compactMap { made[$0] }
        var picture = RenderedPicture(source: last.frame.source, isTruncated: false, renditions: all)
        picture.rendererVersion = Self.version(last.picture.rendererVersion, last.frame.rendererVersion)
        return picture
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
        configuration.limits.totalOutputBytes = configuration.limits.outputBytes
        configuration.toleratesTruncation = false
        configuration.allowedFormats = []
        configuration.makesFrames = true
        self.configuration = configuration
    }

    /// How often the frame of a partial video is tried although nothing new has arrived. Another job may have loaded what
    /// was missing.
    private static let idleTries = 3

    /// The frame of which the renditions, at least one and all of the same moment, are made, as a PNG. `parts` loads what is missing of
    /// the source; nil if nothing is.
    ///
    /// - Throws: `JobFailure`, of stage `render` if not by `parts`, or `CancellationError`.
    func frame(
        for request: RenderRequest,
        loading parts: (any VideoParts)?,
        _ clock: WorkClock
    ) async throws -> RenderedPicture {
        let name = request.name
        var wanted = RenderRequest([.frame(for: request.renditions)], of: request.source, named: name)
        wanted.kind = parts == nil ? .video : .partialVideo
        (wanted.scopes, wanted.rank) = (request.scopes, request.rank)
        let pool = try pool(for: name)
        var idleTries = 0
        while true {
            do {
                return try await pool.render(wanted, clock: clock)
            } catch let missing as MissingBytes {
                let isMore = try await parts?.load(missing.offsets, clock) ?? false
                idleTries = isMore ? 0 : idleTries + 1
                guard idleTries < Self.idleTries else {
                    throw RenderFailure.misbehaved(MalformedMessage("it lacks bytes that are there"), source: name)
                }
            }
        }
    }

    /// A frame as a file for a renderer.
    static func file(of frame: RenderedPicture, named name: String) throws(JobFailure) -> OpenFile {
        do throws(Errno) {
            return try OpenFile.memory(containing: frame.renditions[0].bytes)
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

    /// Whether the program that makes them is not there, so that no frame can be made.
    package var areMissing: Bool { access(configuration.executable, X_OK) != 0 }

    private func pool(for name: String) throws -> RendererPool {
        guard !areMissing else {
            let missing =
                "\(name) is a video, and \(configuration.executable), which makes frames of videos, is missing"
            throw JobFailure(.imageUnsupportedFormat, at: .render, missing).lacking(.reading(.video))
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

/// What a rendition shows of a video.
enum VideoMoment: Hashable {
    case frame(Rendition.FrameTime, isExact: Bool)
    /// The tiles of a storyboard, or the frames of a preview.
    case several(Rendition.Storyboard)

    /// Ten frames, of which the renderer shows each for half a second.
    private static let preview = Rendition.Storyboard(columns: 10, rows: 1)

    init(_ rendition: Rendition) {
        if let storyboard = rendition.storyboard {
            self = .several(storyboard)
        } else if rendition.encoding.animated, rendition.format.written(for: .video).isAnimatable {
            self = .several(Self.preview)
        } else {
            self = .frame(rendition.time, isExact: rendition.accurate)
        }
    }
}

extension Rendition {
    /// What `cameo-frames` is asked for: the moment, and as few pixels as are enough for all these renditions, at least
    /// one and all of the same moment.
    static func frame(for renditions: [Rendition]) -> Rendition {
        var frame = box(of: renditions) ?? Rendition(width: edgeRange.upperBound, height: edgeRange.upperBound)
        frame.name = "frame"
        frame.format = .png
        switch VideoMoment(renditions[0]) {
        case .frame(let time, let isExact): (frame.time, frame.accurate) = (time, isExact)
        case .several(let storyboard): frame.storyboard = storyboard
        }
        return frame
    }

    /// Nil if some renditions may use any part of the frame.
    private static func box(of renditions: [Rendition]) -> Rendition? {
        guard renditions.allSatisfy({ $0.trim == nil && $0.crop == nil }) else { return nil }
        let boxes = renditions.map(\.uncut)
        if let first = boxes.first, boxes.allSatisfy({ $0 == first }) { return first }
        // Whatever covers the largest edges has the pixels that each needs.
        return Rendition(
            width: boxes.compactMap(\.width).max(),
            height: boxes.compactMap(\.height).max(),
            fit: .outside
        )
    }

    /// Only the box, before it is cut or padded and as the frame is before it is rotated.
    private var uncut: Rendition {
        let fit: Fit =
            switch self.fit {
            case .inside, .contain: .inside
            case .cover, .outside: .outside
            case .fill: .fill
            }
        let (width, height) = rotate.isSideways ? (boxHeight, boxWidth) : (boxWidth, boxHeight)
        return Rendition(name: "", width: width, height: height, fit: fit)
    }
}

/// The answer of `cameo-frames` for a video of which it needs more than is there.
struct MissingBytes: Error {
    /// Bytes of the video that it needs, one of each missing part.
    let offsets: Set<Int>
}
