import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// The frame that `auto` chooses, which is the one that people would.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct VideoChoiceTests {
    /// Scenes one after the other, and the seconds that may be shown.
    struct Clip: CustomTestStringConvertible, Sendable {
        let name: String
        let parts: [String]
        let seconds: Range<Double>

        var testDescription: String { name }
    }

    private static func scene(_ duration: Int, _ more: String = "") -> String {
        "testsrc2=s=320x240:r=10:d=\(duration)\(more)"
    }

    private static func card(_ color: String, _ duration: Int, _ more: String = "") -> String {
        "color=\(color):s=320x240:r=10:d=\(duration)\(more)"
    }

    private static func text(_ color: String, _ count: Int) -> String {
        (0..<count).map { ",drawbox=\(60 + $0 * 17 % 40):\(70 + $0 * 22):\(90 - $0 * 13 % 50):5:\(color):fill" }
            .joined()
    }

    private static let desktop = ",drawbox=0:0:320:8:0x303030:fill"
    private static let window = ",drawbox=40:40:240:180:0x4060a0:fill" + text("white", 7)
    private static let cross = ",drawbox=150:90:20:60:black:fill,drawbox=0:119:320:2:black:fill"
    private static let figure = """
        ,drawbox=0:150:320:90:0x305c24:fill,drawbox=120+8*t:90:60:120:0xfae7ce:fill,drawbox=130+8*t:60:40:30:0x1c100e:fill
        """
    private static let dim = ",lutyuv=y=16+(val-16)*0.15:u=128+(val-128)*0.15:v=128+(val-128)*0.15"

    static let clips = [
        Clip(name: "a black leader", parts: [card("black", 6), scene(6)], seconds: 6..<12),
        Clip(name: "a title", parts: [card("black", 4, text("white", 5)), scene(8)], seconds: 4..<12),
        Clip(
            name: "HD bars and a slate",
            parts: ["smptehdbars=s=320x240:r=10:d=3", card("navy", 3, text("white", 5)), scene(9)],
            seconds: 6..<15
        ),
        Clip(
            name: "EBU's bars and a slate",
            parts: ["pal75bars=s=320x240:r=10:d=3", card("navy", 3, text("white", 5)), scene(9)],
            seconds: 6..<15
        ),
        Clip(
            name: "noisy SMPTE bars and a slate",
            parts: ["smptebars=s=320x240:r=10:d=3,noise=alls=3:allf=t", card("navy", 3, text("white", 5)), scene(9)],
            seconds: 6..<15
        ),
        Clip(name: "a countdown", parts: [card("0xbebebe", 4, cross), scene(8)], seconds: 4..<12),
        Clip(
            name: "a screen that is empty at first",
            parts: [card("0xececec", 3, desktop), card("0xececec", 9, desktop + window)],
            seconds: 3..<12
        ),
        Clip(name: "a dark film", parts: [card("black", 4), scene(8, dim)], seconds: 4..<12),
        // Good at once: the keyframe at a tenth.
        Clip(name: "flat colours", parts: [card("0xb8e0ff", 10, figure)], seconds: 1..<1.1),
        Clip(
            name: "interlaced sport",
            parts: [
                "testsrc2=s=320x480:r=20:d=10,crop=320:240:0:120+100*sin(n/3),tinterlace=interleave_top,fieldorder=tff"
            ],
            seconds: 1..<1.1
        ),
    ]

    @Test(arguments: clips)
    func theFrameIsOfAScene(clip: Clip) async throws {
        let labels = clip.parts.indices.map { "[p\($0)]" }
        let parts = zip(clip.parts, labels).map { "\($0),format=yuv420p,setsar=1\($1)" }.joined(separator: ";")
        let graph = "\(parts);\(labels.joined())concat=n=\(labels.count)"
        let words = "-c:v libx264 -g 10 -sc_threshold 0".words
        let path = try await Videos.make(["-filter_complex", graph] + words, as: "clip.mp4")
        let time = try #require(try await Videos.frame(path).facts.video?.time)
        #expect(clip.seconds.contains(time), "\(time)")
    }

    /// One scene, and from a second on, about which the fade is, another.
    private func crossFade(_ scenes: [String], _ duration: Double, _ options: String, as name: String) async throws
        -> String
    {
        let sources = [
            "smooth": "gradients=s=320x240:c0=0x203040:c1=0xe0c0a0:nb_colors=2:x0=0:y0=0:x1=320:y1=240:seed=3",
            "fractal": "mandelbrot=s=320x240:start_scale=1.2", "drawn": "testsrc2=s=320x240:r=25,boxblur=3",
        ]
        func still(_ name: String, _ seconds: Double) -> String {
            let loop = "trim=end_frame=1,loop=loop=-1:size=1,trim=duration=\(seconds),setpts=N/25/TB,fps=25"
            return "\(sources[name] ?? ""),\(loop),format=yuv420p"
        }
        let begin = 1 - duration / 2
        let graph = """
            \(still(scenes[0], 1.2 + duration / 2))[a];\(still(scenes[1], 10 - begin))[b];\
            [a][b]xfade=duration=\(duration):offset=\(begin),format=yuv420p
            """
        let words = "-c:v libx264 -g 500 -sc_threshold 0 \(options)".words
        return try await Videos.make(["-filter_complex", graph] + words, as: name)
    }

    /// The keyframe at a tenth is a mixture of two scenes; in a transport stream, the one behind it is shown.
    @Test(arguments: [
        ("smooth", "drawn", 1.0, "fade.mp4"), ("fractal", "smooth", 2.0, "fade.mp4"),
        ("drawn", "fractal", 1.0, "fade.mp4"), ("smooth", "drawn", 1.0, "fade.ts"),
        ("drawn", "fractal", 1.0, "fade.ts"),
    ])
    func aFrameWithinACrossFadeIsPassedOver(
        first: String,
        second: String,
        duration: Double,
        name: String
    ) async throws {
        let keys = "-force_key_frames \(name == "fade.ts" ? "0,1.2,2.5,4,6,8" : "0,1,2.5,4,6,8")"
        let path = try await crossFade([first, second], duration, keys, as: name)
        let time = try #require(try await Videos.frame(path).facts.video?.time)
        #expect(time > 1 + duration / 2, "\(time)")
    }

    /// Of ten seconds, three are shown, from 0.8 on. The first frame is shown at 80 ms of the media.
    @Test(arguments: [["smooth", "drawn"], ["drawn", "fractal"]])
    func aFrameWithinACrossFadeOfAnEditIsPassedOver(scenes: [String]) async throws {
        let options = "-bf 2 -video_track_timescale 1000 -force_key_frames 0,1.2,2.5,4,6,8"
        let whole = try await crossFade(scenes, 1, options, as: "whole.mp4")
        let edits = [Boxes.Edit(duration: 3_000, media: 880)]
        let path = try Videos.folder.write(Boxes.edited(Data(file: whole), edits), to: "edited.mp4")
        let time = try #require(try await Videos.frame(path).facts.video?.time)
        #expect(time > 0.7, "\(time)")
    }
}
