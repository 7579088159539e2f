import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Every codec in every container that ffmpeg 5.1 writes it into, by the number that each frame shows.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct ContainerTests {
    /// By the name's ending. What is missing ffmpeg refuses to write, or cannot read itself.
    static let table: [(ending: String, codecs: [VideoFacts.Codec])] = [
        ("mp4", [.h264, .hevc, .vp9, .av1, .mpeg4, .mpeg2, .mpeg1, .mjpeg]),
        ("mov", [.h264, .hevc, .mpeg4, .mpeg2, .mpeg1, .mjpeg, .prores, .h263]),
        ("m4v", [.h264, .mpeg4]),
        ("3gp", [.h264, .mpeg4]),
        ("webm", [.vp8, .vp9, .av1]),
        (
            "mkv",
            [.h264, .hevc, .vp8, .vp9, .av1, .mpeg4, .mpeg2, .mpeg1, .mjpeg, .prores, .h263, .wmv2, .msmpeg4, .theora]
        ),
        ("ts", [.h264, .hevc, .mpeg4, .mpeg2, .mpeg1]),
        ("m2ts", [.h264, .hevc, .mpeg4, .mpeg2]),
        (
            "avi",
            [.h264, .vp8, .vp9, .av1, .mpeg4, .mpeg2, .mpeg1, .mjpeg, .prores, .h263, .flv1, .wmv1, .wmv2, .msmpeg4]
        ),
        ("mpg", [.mpeg1, .mpeg2]),
        ("vob", [.mpeg1, .mpeg2]),
        ("wmv", [.wmv1, .wmv2, .msmpeg4]),
        ("asf", [.mpeg4, .h264]),
        ("flv", [.flv1, .h264]),
        ("ogv", [.theora, .vp8]),
    ]

    private static func options(_ codec: VideoFacts.Codec) -> String {
        switch codec {
        case .h264: "-c:v libx264 -pix_fmt yuv420p -g 10 -bf 2"
        case .hevc: "-c:v libx265 -pix_fmt yuv420p -x265-params log-level=none:keyint=10:bframes=2"
        case .vp8: "-c:v libvpx -deadline realtime -b:v 1M -g 10"
        case .vp9: "-c:v libvpx-vp9 -deadline realtime -b:v 1M -g 10"
        case .av1: "-c:v libaom-av1 -usage realtime -cpu-used 8 -g 10"
        case .mpeg4: "-c:v mpeg4 -q:v 2 -g 10 -bf 2"
        case .mpeg2: "-c:v mpeg2video -q:v 2 -r 30 -g 12 -bf 2"
        case .mjpeg: "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p"
        case .prores: "-c:v prores_ks"
        case .mpeg1: "-c:v mpeg1video -q:v 2 -r 30 -g 12 -bf 2"
        case .h263: "-c:v h263p -q:v 2 -g 10"
        case .flv1: "-c:v flv -q:v 2 -g 10"
        case .wmv1, .wmv2, .msmpeg4: "-c:v \(codec) -q:v 2 -g 10"
        case .theora: "-c:v libtheora -q:v 9 -g 10"
        case .dv: "-c:v dvvideo"
        case .wmv3, .vc1, .vp6, .png, .gif, .webp, .bmp: ""
        }
    }

    @Test(arguments: TestLength.few(table, whole: 3))
    func theFrameIsTheOneThatIsShownAtTheTime(ending: String, codecs: [VideoFacts.Codec]) async throws {
        for codec in codecs {
            let path = try await Videos.counter(frames: 30, Self.options(codec), as: "\(codec).\(ending)")
            for (time, number) in [("0.25", 2), ("2.05", 20), ("1000", 29)] {
                let (pixels, facts) = try await Videos.frame(path, time, accurate: true)
                #expect(Videos.number(pixels) == number, "\(codec) in \(ending), \(time)")
                #expect(facts.video?.codec == codec && facts.edges == [160, 48])
            }
        }
    }
}
