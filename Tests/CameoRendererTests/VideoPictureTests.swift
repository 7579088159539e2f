import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// What is made of a frame: sizes, colours, fields; and covers.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct VideoPictureTests {
    private static let scene = ["-f", "lavfi", "-i", "testsrc2=s=642x362:r=10:d=2"]

    static let kinds = [
        Videos.Kind(file: "h264.mp4", options: "-c:v libx264 -pix_fmt yuv420p -qp 12"),
        Videos.Kind(file: "hevc.mkv", options: "-c:v libx265 -x265-params log-level=none:qp=12"),
        Videos.Kind(file: "vp8.webm", options: "-c:v libvpx -deadline realtime -b:v 8M -qmax 10"),
        Videos.Kind(file: "vp9.webm", options: "-c:v libvpx-vp9 -deadline realtime -crf 10 -b:v 0"),
        Videos.Kind(file: "av1.mp4", options: "-c:v libaom-av1 -usage realtime -cpu-used 8 -crf 10"),
        Videos.Kind(file: "mpeg4.avi", options: "-c:v mpeg4 -q:v 2"),
        Videos.Kind(file: "mpeg2.ts", options: "-c:v mpeg2video -q:v 2 -r 25"),
        Videos.Kind(file: "mjpeg.avi", options: "-c:v mjpeg -q:v 2 -pix_fmt yuvj420p"),
        Videos.Kind(file: "prores.mov", options: "-c:v prores_ks"),
        Videos.Kind(
            file: "marked.mp4",
            options: "-vf scale=out_color_matrix=bt709 -c:v libx264 -qp 12 -colorspace bt709"
        ),
        Videos.Kind(file: "deep.mp4", options: "-c:v libx264 -pix_fmt yuv422p10le -qp 12"),
        Videos.Kind(file: "full.mkv", options: "-c:v libx264 -pix_fmt yuvj420p -qp 12"),
        Videos.Kind(file: "coarse.mp4", options: "-c:v libx264 -pix_fmt yuv420p -qp 30"),
    ]

    /// A frame is made as small as its renditions need. The result is as if it had been decoded as a whole.
    @Test(arguments: TestLength.few(kinds, whole: 6))
    func aSmallPictureHasTheColorsOfTheWholeFrame(kind: Videos.Kind) async throws {
        let options = kind.options.words
        let path = try await Videos.make(Self.scene + options, as: kind.file)
        var small = Videos.rendition("0")
        (small.width, small.height) = (160, nil)
        let theirs = try await Videos.make(
            ["-i", path, "-frames:v", "1", "-vf", "scale=160:90:flags=area+accurate_rnd+full_chroma_int,format=rgb24"],
            as: "theirs.png"
        )
        let rendition = small
        let ours = try await Videos.render([rendition], of: path)
        #expect(ours.source.edges == [642, 362])
        #expect(ours.renditions[0].width == 160 && ours.renditions[0].height == 90)
        let difference = Videos.difference(
            try await PixelGrid(of: ours.renditions[0]),
            try await PixelGrid(ofPNG: theirs, 160, 90)
        )
        #expect(difference < 3, "\(difference)")
    }

    @Test(arguments: ["1x1", "3x2", "161x91", "2x160", "160x2"])
    func oddSizesAreKept(size: String) async throws {
        let edges = size.split(separator: "x").compactMap { Int($0) }
        let path = try await Videos.make(
            [
                "-f", "lavfi", "-i", "color=red:s=16x16:d=1", "-c:v", "libx264", "-vf",
                "format=rgb24,scale=\(edges[0]):\(edges[1]),setsar=1,format=yuv444p",
            ],
            as: "odd.mp4"
        )
        let (pixels, facts) = try await Videos.frame(path, "0")
        #expect(facts.edges == edges && [pixels.width, pixels.height] == edges)
        #expect(pixels[0, 0][0] > 230 && pixels[0, 0][1] < 25)
    }

    /// Boxes, cuts, turns and enlargement, of one frame in one job and each alone: the size is never that of the smaller
    /// frame that is decoded for it.
    @Test func everyGeometryIsThatOfTheWholeFrame() async throws {
        let path = try await Videos.make(Self.scene + ["-c:v", "libx264", "-pix_fmt", "yuv420p"], as: "clip.mp4")
        var renditions: [(Rendition, [Int])] = [
            (Rendition(width: 100, height: 100), [100, 56]),
            (Rendition(width: 100, height: 100, fit: .cover), [100, 100]),
            (Rendition(width: 100, height: 100, fit: .contain), [100, 100]),
            (Rendition(width: 100, height: 30, fit: .fill), [100, 30]),
            (Rendition(width: 100, height: 100, fit: .outside), [177, 100]),
            (Rendition(height: 50), [89, 50]),
            (Rendition(width: 2_000), [642, 362]),
            (Rendition(width: 1_284, withoutEnlargement: false), [1_284, 724]),
        ]
        var turned = Rendition(width: 50, height: 100)
        turned.rotate = .quarter
        renditions.append((turned, [50, 89]))
        var cropped = Rendition(width: 64)
        cropped.crop = Rendition.CropArea(left: 2, top: 1, width: 64, height: 32)
        renditions.append((cropped, [64, 32]))
        var dense = Rendition(width: 50)
        dense.dpr = 2
        renditions.append((dense, [100, 56]))
        let all = renditions
        for (rendition, edges) in all {
            let made = try await Videos.render([rendition], of: path)
            #expect(made.source.edges == [642, 362])
            #expect([made.renditions[0].width, made.renditions[0].height] == edges, "\(rendition)")
        }
        let together = all.enumerated().map { index, pair in
            var rendition = pair.0
            rendition.name = "\(index)"
            return rendition
        }
        let made = try await Videos.render(together, of: path)
        #expect(made.renditions.map { [$0.width, $0.height] } == all.map(\.1))
    }

    /// Of a frame whose fields are of two moments, one is used: no combing.
    @Test func anInterlacedFrameIsOfOneMoment() async throws {
        let path = try await Videos.make(
            [
                "-f", "lavfi", "-i", "color=black:s=160x120:r=50:d=1,drawbox=x=t*150:y=0:w=40:h=120:c=white:t=fill",
                "-vf", "tinterlace=interleave_top,fieldorder=tff", "-c:v", "mpeg2video", "-q:v", "2", "-flags",
                "+ildct+ilme",
                "-r", "25",
            ],
            as: "fields.mkv"
        )
        let (pixels, _) = try await Videos.frame(path, "0.5", accurate: true)
        // Along a column, the edge of the box is straight.
        let combed = (0..<160).filter { x in abs(pixels[x, 60][0] - pixels[x, 61][0]) > 60 }
        #expect(combed.isEmpty, "\(combed)")
    }

    struct Cover: CustomTestStringConvertible, Sendable {
        let file: String
        let options: String
        let codec: VideoFacts.Codec

        var testDescription: String { file }
    }

    static let covers = [
        Cover(
            file: "album.m4a",
            options: "-map 0 -map 1 -c:a aac -c:v copy -disposition:v:0 attached_pic",
            codec: .mjpeg
        ),
        Cover(file: "album.mp3", options: "-map 0 -map 1 -c:a libmp3lame -c:v copy", codec: .mjpeg),
        Cover(file: "png.mp3", options: "-map 0 -map 1 -c:a libmp3lame -c:v png", codec: .png),
    ]

    @Test(arguments: covers)
    func anAudioFileShowsItsCover(cover: Cover) async throws {
        let picture = try await coverArt()
        let path = try await Videos.make(
            ["-f", "lavfi", "-i", "sine=d=2", "-i", picture] + cover.options.words,
            as: cover.file
        )
        for time in ["auto", "cover", "1"] {
            let (pixels, facts) = try await Videos.frame(path, time)
            #expect(facts.edges == [90, 70])
            #expect(pixels[45, 35][0] > 180 && pixels[45, 35][2] < 60, "\(pixels[45, 35])")
            #expect(facts.video?.codec == cover.codec && facts.video?.hasAudio == true)
            #expect(facts.video?.time == nil)
        }
    }

    @Test(arguments: [("mp4", "-map 1 -map 0 -c:v:1 copy -disposition:v:1 attached_pic"), ("mkv", "-map 1")])
    func aVideoShowsItsCoverIfItIsAskedTo(kind: String, options: String) async throws {
        let picture = try await coverArt()
        let clip = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        let attached = kind == "mkv" ? ["-attach", picture, "-metadata:s:t", "mimetype=image/jpeg"] : []
        let path = try await Videos.make(
            ["-i", picture, "-i", clip] + options.words + ["-c:v:0", "copy"]
                + attached,
            as: "film.\(kind)"
        )
        let renditions = ["cover", "3"].map { time in
            var rendition = Videos.rendition(time)
            rendition.name = time
            return rendition
        }
        let made = try await Videos.render(renditions, of: path)
        let facts = made.renditions.map(\.source)
        #expect(facts.map { $0?.edges } == [[90, 70], [160, 120]])
        #expect(facts.map { $0?.video?.time } == [nil, 3])
        let (moving, _) = try await Videos.frame(path, "3")
        #expect(Videos.second(moving) == 3)
        let without = await failure { try await Videos.render([Videos.rendition("cover")], of: clip) }
        #expect(without?.code == .videoNoPicture)
        #expect(without?.message.contains("cover") == true)
    }

    @Test func soundWithoutAPictureSaysSo() async throws {
        for name in ["plain.mp3", "plain.m4a", "plain.mka"] {
            let path = try await Videos.make(["-f", "lavfi", "-i", "sine=d=1", "-metadata", "title=A"], as: name)
            let failure = await failure { try await Videos.render([Videos.rendition("auto")], of: path) }
            #expect(failure?.code == .videoNoPicture, "\(name): \(String(describing: failure))")
        }
    }

    private func coverArt() async throws -> String {
        try await Videos.make(
            ["-f", "lavfi", "-i", "color=0xdc3210:s=90x70", "-frames:v", "1", "-q:v", "2"],
            as: "cover.jpg"
        )
    }
}
