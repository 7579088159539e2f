import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Frames between keyframes, by the number that each shows.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct ExactFrameTests {
    private static let h264 = "-c:v libx264 -pix_fmt yuv420p -sc_threshold 0"

    /// With frames that are reordered, with one keyframe, without an index, and of varying length. Other codecs are in
    /// ``ContainerTests``.
    static let kinds = [
        Videos.Kind(file: "reordered.mp4", options: "\(h264) -g 10 -bf 3"),
        Videos.Kind(file: "one.mp4", options: "\(h264) -g 1000"),
        Videos.Kind(file: "one.mkv", options: "\(h264) -g 1000"),
        Videos.Kind(file: "open.mp4", options: "\(h264) -g 12 -x264-params open-gop=1:bframes=3"),
        Videos.Kind(file: "fragments.mp4", options: "\(h264) -g 10 -movflags frag_keyframe+empty_moov"),
        Videos.Kind(file: "no-index.mp4", options: "\(h264) -g 10 -movflags frag_keyframe+empty_moov+skip_trailer"),
        Videos.Kind(file: "no-index.mkv", options: "\(h264) -g 10 -seekable 0"),
        Videos.Kind(file: "clip.ts", options: "\(h264) -g 10"),
        Videos.Kind(file: "no-b.avi", options: "\(h264) -g 20 -bf 0"),
        Videos.Kind(file: "mpeg4.mp4", options: "-c:v mpeg4 -q:v 2 -g 20 -bf 2"),
    ]

    @Test(arguments: TestLength.few(kinds, whole: 6))
    func theFrameIsTheOneThatIsShownAtTheTime(kind: Videos.Kind) async throws {
        let path = try await Videos.counter(kind.options, as: kind.file)
        for (time, number) in [("0", 0), ("0.25", 2), ("1.95", 19), ("2.01", 20), ("5.85", 58)] {
            let (pixels, facts) = try await Videos.frame(path, time, accurate: true)
            #expect(Videos.number(pixels) == number, "\(time)")
            #expect(abs((facts.video?.time ?? -1) - Double(number) / 10) < 0.06, "\(time): \(facts)")
        }
        let (last, _) = try await Videos.frame(path, "1000", accurate: true)
        #expect(Videos.number(last) == 59)
    }

    /// The nearest keyframe, of a file whose index ends early or is missing too.
    @Test(arguments: kinds.filter { $0.options.contains("-g 10 ") && !$0.file.hasSuffix(".ts") })
    func aKeyframeIsFoundWithoutAnIndex(kind: Videos.Kind) async throws {
        let path = try await Videos.counter(kind.options, as: kind.file)
        for (time, number) in [("0", 0), ("1.2", 10), ("2.8", 30), ("3.4", 30), ("4.6", 50), ("5.3", 50)] {
            let (pixels, facts) = try await Videos.frame(path, time)
            #expect(Videos.number(pixels) == number, "\(time)")
            #expect(abs((facts.video?.time ?? -1) - Double(number) / 10) < 0.06, "\(time): \(facts)")
        }
    }

    @Test func framesOfUnevenLengthAreShownUntilTheNext() async throws {
        let path = try await Videos.counter(
            "-vf select='lt(n\\,10)+not(mod(n\\,7))' -fps_mode vfr \(Self.h264) -g 30",
            as: "uneven.mp4"
        )
        for (time, number) in [("0.95", 9), ("1.35", 9), ("1.45", 14), ("2.75", 21), ("5.5", 49), ("9", 56)] {
            let (pixels, _) = try await Videos.frame(path, time, accurate: true)
            #expect(Videos.number(pixels) == number, "\(time)")
        }
    }

    /// A file with one keyframe and more frames than are decoded: the last one that was, and the facts tell its time.
    @Test func theBudgetOfFramesIsKept() async throws {
        let path = try await Videos.counter(frames: 400, "\(Self.h264) -g 1000 -bf 0", as: "long.mp4")
        let (pixels, facts) = try await Videos.frame(path, "39", accurate: true)
        #expect(Videos.number(pixels) == 299)
        #expect(facts.video?.time == 29.9)
    }
}
