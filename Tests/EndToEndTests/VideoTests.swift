import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Videos through the queue.
    @Suite(.timeLimit(.minutes(10)))
    struct VideoTests {
        @Test func aVideoNamesTheProgramThatIsMissing() async throws {
            let deployment = try Deployment()
            let start = Data([0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 2, 0] + Array("isomavc1".utf8))
            try deployment.folder.write(start, to: "pictures/clip.mp4")
            let receipt = try #require(try await deployment.enqueue("pictures/clip.mp4").first)
            let drained = try await deployment.drain("--frames", deployment.folder.path("no-frames"))
            #expect(drained.exitStatus != 0)
            let failure = try #require(try await deployment.job(receipt.jobID).failure)
            #expect(failure.code == .imageUnsupportedFormat)
            #expect(failure.message.contains("is a video") && failure.message.contains("/no-frames"), "\(failure)")
        }

        @Test(.enabled(if: Deployment.servesVideos, "needs a build with CAMEO_VIDEO=1, and ffmpeg"))
        func aVideoGoesThroughTheQueueLikeAnyPicture() async throws {
            let deployment = try Deployment()
            try await run(
                "/usr/bin/ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:d=4", "-f", "lavfi", "-i", "sine=d=4",
                    "-c:v",
                    "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "\(deployment.pictures)/clip.mp4",
                ]
            ).succeeded()
            let frames = try Deployment.executable("cameo-frames")
            let receipts = try await deployment.enqueue(
                "pictures/clip.mp4 --size 96x54:cover:webp --size 64x:jpeg --time 50%"
            )
            try await deployment.drain("--frames", frames, "--require-sandbox").succeeded()
            let job = try await deployment.job(receipts[0].jobID)
            #expect(job.state == .completed, "\(String(describing: job.failure))")
            try #require(job.thumbnails.map(\.width) == [96, 64])
            let source = try #require(job.thumbnails[0].source)
            #expect(source.format == "video")
            #expect(source.width == 320 && source.height == 180)
            let video = try #require(source.video)
            #expect(video.duration == 4 && video.codec == .h264 && video.rotation == 0 && video.hasAudio)
            // One keyframe is all that this encoder makes of four seconds.
            #expect(video.time == 0)
            // The version tells what made the frame and what made the thumbnail of it.
            let version = try await deployment.sql("SELECT renderer_version FROM thumbnail LIMIT 1;")
            #expect(version.contains("libvips-") && version.contains("libavcodec-"), "\(version)")
            let text = try await deployment.command("cameo-status job 1").outputText
            #expect(text.contains("320x180 video"), "\(text)")
            let view = try await deployment.sql(
                "SELECT json_extract(thumbnails, '$[0].source.video.codec') FROM job_status WHERE id = 1;"
            )
            #expect(view == "h264")
        }

        @Test(.enabled(if: Deployment.servesVideos, "needs a build with CAMEO_VIDEO=1, and ffmpeg"))
        func aVideoIsLeftToAWorkerThatMakesFrames() async throws {
            let deployment = try Deployment()
            try deployment.add(try await deployment.makeVideo("clip.mp4", "-c:v", "libx264"), as: "clip.mp4")
            let able = try deployment.startWorker("--frames", try Deployment.executable("cameo-frames"))
            defer { able.killGroup() }
            try await deployment.waitUntil { try await $0.status().workers.count { $0.isAlive } == 1 }
            able.send(SIGSTOP)
            try await able.hasStopped()
            let unable = try deployment.startWorker("--frames", deployment.folder.path("no-frames"))
            defer { unable.killGroup() }
            let id = try #require(try await deployment.enqueue("pictures/clip.mp4").first).jobID
            try await deployment.waitUntil { try await [.retryable, .discarded].contains($0.job(id).state) }
            able.send(SIGCONT)
            try await deployment.waitUntil { try await $0.job(id).state.isFinal }
            #expect(try await deployment.job(id).state == .completed)
        }

        /// A film of 300 MiB, three times the limit, whose index is at its end.
        @Test(.enabled(if: Deployment.servesVideos, "needs a build with CAMEO_VIDEO=1, and ffmpeg"))
        func aFrameOfAFilmCostsAFewOfItsBytes() async throws {
            let deployment = try Deployment()
            let clip = try Data(contentsOf: URL(filePath: await deployment.makeVideo("clip.mp4", "-c:v", "libx264")))
            let index = try #require(clip.range(of: Data("moov".utf8))).lowerBound - 4
            let gap = 300 << 20
            let size = withUnsafeBytes(of: UInt32(gap).bigEndian) { Data($0) }
            let film = try deployment.folder.write(clip[..<index] + size + Data("free".utf8), to: "film.mp4")
            let file = try #require(FileHandle(forUpdatingAtPath: film))
            try file.seek(toOffset: UInt64(index + gap))
            try file.write(contentsOf: clip[index...])
            let origin = try await Origin.start(serving: deployment.folder.path)
            let uri = origin.url("/parts?file=film.mp4")
            let receipts = try await deployment.enqueue(
                uri,
                "--size",
                "96x54:cover:webp",
                "--time",
                "1.2"
            )
            let sheet = try await deployment.enqueue(uri, "--size", "80x60:jpeg", "--storyboard", "2x2")
            let frames = try Deployment.executable("cameo-frames")
            try await deployment.drain(
                "--frames",
                frames,
                "--require-sandbox",
                "--allow-network",
                "127.0.0.0/8"
            ).succeeded()
            for receipt in receipts + sheet {
                let job = try await deployment.job(receipt.jobID)
                #expect(job.state == .completed, "\(String(describing: job.failure))")
                let loaded = try #require(job.attempts?.last?.sourceBytes)
                #expect(loaded > 0 && loaded <= 3 << 20, "\(loaded)")
                #expect(job.thumbnails[0].source?.video?.duration == 3)
            }
        }

        @Test(.enabled(if: Deployment.servesVideos, "needs a build with CAMEO_VIDEO=1, and ffmpeg"))
        func aStoryboardHasATrackForPlayersAndAPreviewMoves() async throws {
            let deployment = try Deployment()
            try deployment.add(try await deployment.makeVideo("clip.mp4", "-c:v", "libx264"), as: "clip.mp4")
            let frames = try Deployment.executable("cameo-frames")
            let sheet = ["pictures/clip.mp4", "--size", "80x60:jpeg", "--storyboard", "2x4,interval=1"]
            let board = try #require(try await deployment.enqueue(sheet).first)
            let preview = try #require(try await deployment.enqueue("pictures/clip.mp4 --size 100x --animated").first)
            try await deployment.drain("--frames", frames, "--require-sandbox").succeeded()
            let made = try await deployment.job(board.jobID).thumbnails[0]
            #expect([made.width, made.height, made.frames] == [160, 120, 1])
            let track = try await deployment.command("cameo-status", ["cat", made.uri.text, "--vtt", "sheet.jpg"])
            #expect(
                track.outputText == """
                    WEBVTT

                    00:00:00.000 --> 00:00:01.000
                    sheet.jpg#xywh=0,0,80,60

                    00:00:01.000 --> 00:00:02.000
                    sheet.jpg#xywh=80,0,80,60

                    00:00:02.000 --> 00:00:03.000
                    sheet.jpg#xywh=0,60,80,60

                    """,
                "\(track.errorText)"
            )
            let moving = try await deployment.job(preview.jobID).thumbnails[0]
            #expect([moving.width, moving.height, moving.frames] == [100, 75, 10])
            #expect(moving.isAnimated == true && moving.source?.isAnimated == false)
            let none = try await deployment.command("cameo-status", ["cat", moving.uri.text, "--vtt", "sheet.jpg"])
            #expect(none.exitStatus == 1 && none.errorText.contains("is no storyboard"), "\(none.errorText)")
        }
    }
}
