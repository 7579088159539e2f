import Foundation
import TestSupport

extension Deployment {
    /// Whether the package was built with `CAMEO_VIDEO=1` and the command `ffmpeg` is there.
    static let servesVideos =
        ProcessInfo.processInfo.environment["CAMEO_VIDEO"] == "1"
        && FileManager.default.isExecutableFile(atPath: Repository.builtProduct("cameo-frames"))
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg")

    /// Writes three seconds of a test pattern, a keyframe a second, outside the folder of pictures.
    func makeVideo(_ name: String, _ options: String...) async throws -> String {
        let path = folder.path(name)
        let input = ["-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=10:d=3"]
        let result = try await run("/usr/bin/ffmpeg", input + ["-g", "10", "-pix_fmt", "yuv420p"] + options + [path])
        guard result.exitStatus == 0 else { throw CommandFailed(result: result) }
        return path
    }
}
