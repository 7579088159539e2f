import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// Videos that `ffmpeg` makes, and the pools that show frames of them.
enum Videos {
    /// Whether the package was built with `CAMEO_VIDEO=1` and the command `ffmpeg` is there.
    static let canBeTested =
        ProcessInfo.processInfo.environment["CAMEO_VIDEO"] == "1"
        && FileManager.default.isExecutableFile(atPath: executable)
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg")

    static let executable = Repository.builtProduct("cameo-frames")

    /// The colours of the seconds of ``clip(_:_:in:)``.
    static let colors = [
        [200, 30, 30], [30, 160, 30], [40, 40, 200], [200, 180, 30], [30, 170, 180], [170, 40, 170],
    ]

    /// The folder of one test case, and its pools.
    static var folder: TemporaryFolder { scope.folder }
    static var pools: Pools { scope.pools }

    private static var scope: VideoScope.Scope {
        guard let scope = VideoScope.current else { preconditionFailure("the suite has no .ownVideos") }
        return scope
    }

    /// Runs `ffmpeg`.
    static func make(_ arguments: [String], as name: String, in folder: TemporaryFolder = Videos.folder) async throws
        -> String
    {
        let path = folder.path(name)
        guard !FileManager.default.fileExists(atPath: path) else { return path }
        let result = try await run("/usr/bin/ffmpeg", ["-v", "error", "-nostdin"] + arguments + [path])
        guard result.exitStatus == 0 else { throw CannotMake(name: name, words: result.errorText) }
        return path
    }

    struct CannotMake: Error {
        let name: String
        let words: String
    }

    /// Six seconds of 10 frames, each second in another colour above white and black squares, with a keyframe at its
    /// beginning.
    static let picture: [String] = {
        let seconds = colors.enumerated().map { index, color in
            let hex = color.map { String(format: "%02x", $0) }.joined()
            return "color=0x\(hex):s=160x120:r=10:d=1[c\(index)]"
        }
        let all = colors.indices.map { "[c\($0)]" }.joined()
        let boxes = "drawbox=0:80:40:40:white:fill,drawbox=40:80:40:40:black:fill"
        return ["-filter_complex", "\(seconds.joined(separator: ";"));\(all)concat=n=6,\(boxes),setsar=1"]
    }()

    static func clip(
        _ encoder: String,
        _ options: String = "",
        as name: String,
        in folder: TemporaryFolder = Videos.folder
    ) async throws -> String {
        let words = options.words
        return try await make(picture + ["-c:v", encoder, "-g", "10"] + words, as: name, in: folder)
    }

    struct Pools: Sendable {
        let renderer: RendererPool
        let frames: VideoFrames

        func render(_ renditions: [Rendition], of path: String) async throws -> RenderedPicture {
            let request = RenderRequest(renditions, of: try OpenFile(reading: path), named: path)
            return try await renderer.render(request, frames: frames, clock: WorkClock())
        }
    }

    static func render(_ renditions: [Rendition], of path: String) async throws -> RenderedPicture {
        try await pools.render(renditions, of: path)
    }

    /// The frame as it is, at a time as it is typed.
    static func frame(_ path: String, _ time: String = "auto", accurate: Bool = false) async throws
        -> (pixels: PixelGrid, facts: PictureFacts)
    {
        var rendition = rendition(time)
        rendition.accurate = accurate
        let picture = try await render([rendition], of: path)
        return (try await PixelGrid(of: picture.renditions[0]), picture.source)
    }

    /// A storyboard of tiles of this size.
    static func tiles(_ columns: Int, _ rows: Int, of path: String, each size: PixelSize = PixelSize(160, 48))
        async throws -> PixelGrid
    {
        var sheet = Rendition(name: "sheet", width: size.width, height: size.height, format: .png)
        sheet.storyboard = Rendition.Storyboard(columns: columns, rows: rows)
        return try await PixelGrid(of: render([sheet], of: path).renditions[0])
    }

    static func rendition(_ time: String) -> Rendition {
        var rendition = Rendition(name: "at", width: 2_000, height: 2_000, format: .png)
        rendition.time = Rendition.FrameTime(time) ?? .auto
        return rendition
    }

    /// The second of ``clip(_:_:in:)`` that a frame is of, by its colour.
    static func second(_ pixels: PixelGrid, at place: (x: Int, y: Int) = (80, 30)) -> Int? {
        let pixel = pixels[place.x, place.y]
        return colors.firstIndex { color in zip(color, pixel).allSatisfy { abs($0 - $1) < 20 } }
    }
}

/// Gives each test case a folder and `cameo-frames` of its own, shut down after it.
struct VideoScope: SuiteTrait, TestTrait, TestScoping {
    struct Scope: Sendable {
        let folder: TemporaryFolder
        let pools: Videos.Pools
    }

    @TaskLocal static var current: Scope?
    let isRecursive = true

    @concurrent
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        var configuration = RendererConfiguration(executable: Videos.executable, processes: 1)
        configuration.requiresSandbox = true
        configuration.timeout = .seconds(300)
        let frames = VideoFrames(configuration)
        let scope = Scope(
            folder: try TemporaryFolder(),
            pools: Videos.Pools(renderer: try Renderers.shared.get(), frames: frames)
        )
        do {
            try await Self.$current.withValue(scope, operation: function)
            await frames.shutdown()
        } catch {
            await frames.shutdown()
            throw error
        }
    }
}

extension Trait where Self == VideoScope {
    static var ownVideos: VideoScope { VideoScope() }
}

extension Trait where Self == ConditionTrait {
    static var needsVideo: ConditionTrait {
        .enabled(if: Videos.canBeTested, "needs a build with CAMEO_VIDEO=1, and ffmpeg")
    }
}

extension String {
    var words: [String] { split(separator: " ").map(String.init) }
}

extension Data {
    init(file path: String) throws { try self.init(contentsOf: URL(filePath: path)) }
}
