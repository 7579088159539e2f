import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport

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

    /// Runs `ffmpeg`.
    static func make(_ arguments: [String], as name: String, in folder: TemporaryFolder) async throws -> String {
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

    static func clip(_ encoder: String, _ options: String = "", as name: String, in folder: TemporaryFolder)
        async throws
        -> String
    {
        let words = options.split(separator: " ").map(String.init)
        return try await make(picture + ["-c:v", encoder, "-g", "10"] + words, as: name, in: folder)
    }

    /// Renders with a renderer and a `cameo-frames` for one test, shut down after it.
    static func with<Result>(_ body: (Videos.Pools) async throws -> Result) async throws -> Result {
        var configuration = RendererConfiguration(executable: executable, processes: 1)
        configuration.requiresSandbox = true
        configuration.timeout = .seconds(300)
        let frames = VideoFrames(configuration)
        do {
            let result = try await body(Pools(renderer: try Renderers.shared.get(), frames: frames))
            await frames.shutdown()
            return result
        } catch {
            await frames.shutdown()
            throw error
        }
    }

    struct Pools {
        let renderer: RendererPool
        let frames: VideoFrames

        func render(_ renditions: [Rendition], of path: String) async throws -> RenderedPicture {
            let request = RenderRequest(renditions, of: try OpenFile(reading: path), named: path)
            return try await renderer.render(request, frames: frames, clock: WorkClock())
        }

        /// The frame as it is, at a time as it is typed.
        func frame(_ path: String, _ time: String = "auto", accurate: Bool = false)
            async throws
            -> (pixels: PixelGrid, facts: PictureFacts)
        {
            var rendition = Videos.rendition(time)
            rendition.accurate = accurate
            let picture = try await render([rendition], of: path)
            return (try await PixelGrid(of: picture.renditions[0]), picture.source)
        }
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
