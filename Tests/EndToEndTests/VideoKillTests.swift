import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Workers killed by SIGKILL among videos: frames have processes of their own, which die with their worker.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(if: Deployment.servesVideos, "needs a build with CAMEO_VIDEO=1, and ffmpeg")
    )
    struct VideoKillTests {
        @Test func killsAmongVideosAndPhotosLoseNothingDoubleNothingAndChargeNobody() async throws {
            let deployment = try Deployment()
            try await deployment.killAfterKill(
                TestLength.rounds(4, full: 20),
                jobs: TestLength.rounds(100, full: 400),
                of: [
                    try await deployment.makeVideo("clip.mp4", "-c:v", "libx264"), try await Pictures.photo("jpg"),
                    try await deployment.makeVideo("clip.ts", "-c:v", "mpeg2video", "-r", "25"),
                    try await Pictures.photo("png"),
                    try await deployment.makeVideo("clip.webm", "-c:v", "libvpx", "-deadline", "realtime"),
                    try await Pictures.photo("webp"),
                ]
            )
        }
    }
}
