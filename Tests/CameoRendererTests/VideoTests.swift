import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Frames of videos, by real `cameo-frames` processes in their sandbox.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct VideoTests {
    struct Kind: CustomTestStringConvertible, Sendable {
        let file: String
        let encoder: String
        var options = ""
        let codec: VideoFacts.Codec

        var testDescription: String { "\(codec) in \(file)" }
    }

    static let kinds = [
        Kind(file: "h264.mp4", encoder: "libx264", options: "-pix_fmt yuv420p", codec: .h264),
        Kind(file: "faststart.mp4", encoder: "libx264", options: "-pix_fmt yuv420p -movflags faststart", codec: .h264),
        Kind(file: "fragments.mp4", encoder: "libx264", options: "-movflags frag_keyframe+empty_moov", codec: .h264),
        Kind(file: "h264.mov", encoder: "libx264", options: "-pix_fmt yuv422p10le", codec: .h264),
        Kind(file: "h264.mkv", encoder: "libx264", codec: .h264),
        Kind(file: "h264.avi", encoder: "libx264", options: "-bf 0", codec: .h264),
        Kind(file: "hevc.mp4", encoder: "libx265", options: "-x265-params log-level=none:keyint=10", codec: .hevc),
        Kind(file: "vp8.webm", encoder: "libvpx", options: "-deadline realtime -b:v 1M", codec: .vp8),
        Kind(file: "vp9.webm", encoder: "libvpx-vp9", options: "-deadline realtime -b:v 1M", codec: .vp9),
        Kind(file: "av1.mp4", encoder: "libaom-av1", options: "-usage realtime -cpu-used 8", codec: .av1),
        Kind(file: "av1.mkv", encoder: "libaom-av1", options: "-usage realtime -cpu-used 8", codec: .av1),
        Kind(file: "mpeg4.mp4", encoder: "mpeg4", options: "-q:v 3", codec: .mpeg4),
        Kind(file: "mpeg4.avi", encoder: "mpeg4", options: "-q:v 3 -bf 2", codec: .mpeg4),
        Kind(file: "mjpeg.avi", encoder: "mjpeg", options: "-q:v 3 -pix_fmt yuvj420p", codec: .mjpeg),
        Kind(file: "mpeg2.mkv", encoder: "mpeg2video", options: "-q:v 3 -r 25", codec: .mpeg2),
        Kind(file: "prores.mov", encoder: "prores_ks", codec: .prores),
    ]

    @Test(arguments: TestLength.few(kinds, whole: 5))
    func theFrameIsOfTheKeyframeNearestToTheTime(kind: Kind) async throws {
        let path = try await Videos.clip(kind.encoder, kind.options, as: kind.file)
        for (time, second) in [
            ("0", 0), ("1.1", 1), ("2", 2), ("3.2", 3), ("75%", 4), ("5.3", 5), ("100%", 5), ("1000", 5),
        ] {
            let (pixels, facts) = try await Videos.frame(path, time)
            #expect(Videos.second(pixels) == second, "\(time): \(pixels[80, 30])")
            #expect(facts.edges == [160, 120])
            #expect(facts.format == .video)
            #expect(facts.video?.codec == kind.codec)
            #expect(facts.video?.rotation == 0 && facts.video?.hasAudio == false)
            // Fragments say nothing of the whole.
            if kind.file != "fragments.mp4" { #expect(abs((facts.video?.duration ?? 0) - 6) < 0.2) }
        }
    }

    @Test(arguments: [("libx264", VideoFacts.Codec.h264), ("mpeg2video", .mpeg2)])
    func aTransportStreamIsReadFromItsNextKeyframe(encoder: String, codec: VideoFacts.Codec) async throws {
        let path = try await Videos.clip(encoder, "-r 25 -g 5 -q:v 3 -bf 0", as: "clip.ts")
        for (time, seconds) in [("0", 0...0), ("1.5", 1...2), ("3.5", 3...4), ("100%", 5...5)] {
            let (pixels, facts) = try await Videos.frame(path, time)
            let second = try #require(Videos.second(pixels), "\(time)")
            #expect(seconds.contains(second), "\(time)")
            #expect(facts.video?.codec == codec)
        }
    }

    @Test func severalMomentsAreOfOneJob() async throws {
        let path = try await Videos.clip("libx264", as: "clip.mp4")
        let times = ["4", "auto", "0", "4"]
        let renditions = times.enumerated().map { index, time in
            var rendition = Videos.rendition(time)
            rendition.name = "\(index)"
            rendition.width = 80
            return rendition
        }
        let picture = try await Videos.render(renditions, of: path)
        var seconds: [Int?] = []
        for rendition in picture.renditions {
            seconds.append(Videos.second(try await PixelGrid(of: rendition), at: (40, 15)))
        }
        try #require(seconds.count == 4)
        #expect([seconds[0], seconds[2], seconds[3]] == [4, 0, 4])
        #expect(picture.renditions.map(\.width) == [80, 80, 80, 80])
    }

    /// Four quarter turns counterclockwise by the display matrix. The white square is at the bottom left of the coded
    /// frame.
    @Test(arguments: [0, 90, 180, 270])
    func theFrameIsUpright(degrees: Int) async throws {
        let coded = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "coded.mp4")
        let path = try Videos.folder.write(Self.turned(by: degrees, Data(file: coded)), to: "turned.mp4")
        let (pixels, facts) = try await Videos.frame(path, "0")
        #expect(facts.edges == (degrees % 180 == 0 ? [160, 120] : [120, 160]))
        #expect(facts.video?.rotation == (360 - degrees) % 360)
        let white = [0: (20, 100), 90: (100, 140), 180: (140, 20), 270: (20, 20)][degrees] ?? (0, 0)
        #expect(pixels[white.0, white.1].allSatisfy { $0 > 235 }, "\(pixels[white.0, white.1])")
    }

    @Test(arguments: [("8:3", [320, 120]), ("2:3", [160, 240]), ("64:33", [233, 120])])
    func pixelsBecomeSquare(aspect: String, edges: [Int]) async throws {
        let path = try await Videos.clip("libx264", "-pix_fmt yuv420p -aspect \(aspect)", as: "wide.mp4")
        let (pixels, facts) = try await Videos.frame(path, "2")
        #expect(facts.edges == edges)
        #expect(Videos.second(pixels, at: (edges[0] / 2, edges[1] / 4)) == 2)
    }

    @Test(arguments: [
        ("bt709", "tv", "yuv420p"), ("bt709", "pc", "yuv420p"), ("smpte170m", "tv", "yuv444p"),
        ("bt2020nc", "tv", "yuv420p10le"),
    ])
    func colorsAreThoseOfTheMatrixAndTheRange(matrix: String, range: String, format: String) async throws {
        let scale = "scale=out_color_matrix=\(matrix == "bt2020nc" ? "bt2020" : matrix):out_range=\(range)"
        var graph = Videos.picture
        graph[1] += ",\(scale),format=\(format)"
        let path = try await Videos.make(
            graph + ["-c:v", "libx264", "-g", "10", "-qp", "4", "-colorspace", matrix, "-color_range", range],
            as: "colors.mp4"
        )
        for second in Videos.colors.indices {
            let (pixels, _) = try await Videos.frame(path, "\(second)")
            let difference = zip(pixels[80, 30], Videos.colors[second]).map { abs($0 - $1) }.max() ?? 255
            #expect(difference <= 5, "\(pixels[80, 30]) is not \(Videos.colors[second])")
        }
    }

    /// A fade from black that has one keyframe, its first frame.
    @Test(arguments: ["10", "100"])
    func autoIsNeitherBlackNorFaded(interval: String) async throws {
        let path = try await Videos.make(
            [
                "-f", "lavfi", "-i", "testsrc2=s=160x120:r=10:d=4", "-vf", "fade=in:st=1:d=2", "-c:v", "libx264", "-g",
                interval, "-sc_threshold", "0", "-pix_fmt", "yuv420p",
            ],
            as: "fade.mp4"
        )
        let (pixels, _) = try await Videos.frame(path)
        let lightest = pixels.places.map { pixels[$0.x, $0.y].max() ?? 0 }.max() ?? 0
        #expect(lightest > 120)
        let (black, _) = try await Videos.frame(path, "0")
        #expect(black.bytes.allSatisfy { $0 < 20 })
    }

    @Test(arguments: TestLength.few(["clip.mp4", "clip.mkv", "clip.ts", "clip.avi"], whole: 2))
    func aTruncatedVideoGivesAFrameOfTheTimeOrIsCorrupt(name: String) async throws {
        let path = try await Videos.clip("libx264", "-movflags faststart -bf 0 -pix_fmt yuv420p", as: name)
        let whole = try Data(file: path)
        var frames = 0
        for tenth in 0..<10 {
            let cut = try Videos.folder.write(whole.prefix(whole.count * tenth / 10), to: "cut-\(tenth)-\(name)")
            for (time, seconds) in [("0", 0...1), ("auto", 0...5), ("3", 3...4)] {
                do {
                    let (pixels, _) = try await Videos.frame(cut, time)
                    let second = try #require(Videos.second(pixels), "\(time) of \(tenth)")
                    // The nearest keyframe that is left.
                    if name != "clip.mp4" || time == "0" { #expect(second <= seconds.upperBound) }
                    frames += 1
                } catch let failure as JobFailure {
                    let codes: [JobFailure.Code] = [.imageCorrupt, .videoNoPicture, .imageUnsupportedFormat]
                    #expect(codes.contains(failure.code), "\(tenth): \(failure)")
                }
            }
        }
        #expect(frames > 5)
    }

    @Test func whatHasNoVideoSaysSo() async throws {
        let audio = try await Videos.make(["-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac"], as: "audio.m4a")
        let foreign = try await Videos.clip("ffv1", as: "ffv1.mkv")
        let withSound = try await Videos.make(
            ["-f", "lavfi", "-i", "sine=d=6", "-c:a", "aac"] + Videos.picture + ["-c:v", "libx264"],
            as: "sound.mp4"
        )
        let silent = await failure { try await Videos.render([Videos.rendition("auto")], of: audio) }
        #expect(silent?.code == .videoNoPicture)
        let unknown = await failure { try await Videos.render([Videos.rendition("auto")], of: foreign) }
        #expect(unknown?.code == .videoUnsupportedCodec)
        #expect(unknown?.message.contains("ffv1") == true)
        let (_, facts) = try await Videos.frame(withSound)
        #expect(facts.video?.hasAudio == true)
    }

    /// A playlist is no video; a track whose samples are in another file has none.
    @Test func nothingElseIsOpened() async throws {
        let clip = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        let playlists = [
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nclip.mp4\n#EXT-X-ENDLIST\n",
            "ffconcat version 1.0\nfile clip.mp4\n",
            "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\n",
            "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"><BaseURL>clip.mp4</BaseURL></MPD>",
        ]
        for (index, text) in playlists.enumerated() {
            let path = try Videos.folder.write(Data(text.utf8), to: "playlist-\(index)")
            let failure = await failure { try await Videos.render([Videos.rendition("auto")], of: path) }
            #expect(failure?.code == .imageUnsupportedFormat)
        }
        let outside = try Videos.folder.write(
            Self.referring(to: Videos.folder.path("clip.mp4"), Data(file: clip)),
            to: "outside.mp4"
        )
        let refused = await failure { try await Videos.render([Videos.rendition("0")], of: outside) }
        #expect(refused?.code == .imageCorrupt)
        let (pixels, _) = try await Videos.frame(clip, "0")
        #expect(Videos.second(pixels) == 0)
    }

    @Test func picturesAreRenderedAsEver() async throws {
        let picture = try await Videos.render([Videos.rendition("2")], of: Pictures.photo("jpg"))
        #expect(picture.source.format == .jpeg && picture.source.video == nil)
    }

    @Test func tooLargeAVideoIsRefusedBeforeItIsDecoded() async throws {
        let path = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        var configuration = RendererConfiguration(executable: Videos.executable, processes: 1)
        configuration.limits.pixels = 160 * 120 - 1
        let frames = VideoFrames(configuration)
        let pools = Videos.Pools(renderer: try Renderers.shared.get(), frames: frames)
        let refused = await failure { try await pools.render([Videos.rendition("auto")], of: path) }
        #expect(refused?.code == .imageTooManyPixels)
        await frames.shutdown()
    }

    /// An MP4 with a display matrix in its track's header (ISO/IEC 14496-12, 8.3.2). No option that writes one is in
    /// both `ffmpeg` 5.1 and 7.1.
    private static func turned(by degrees: Int, _ movie: Data) throws -> Data {
        var bytes = movie
        let matrix = try #require(bytes.range(of: Data("tkhd".utf8), options: .backwards)).lowerBound + 44
        let (cosine, sine) = ([1, 0, -1, 0][degrees / 90], [0, 1, 0, -1][degrees / 90])
        for (offset, value) in [(0, cosine), (4, -sine), (12, sine), (16, cosine)] {
            let integer: [UInt8] = [value < 0 ? 255 : 0, UInt8(truncatingIfNeeded: value)]
            bytes.replaceSubrange(matrix + offset..<matrix + offset + 2, with: integer)
        }
        return bytes
    }

    /// An MP4 whose boxes for samples come before those for data, and whose samples an alias record places in another
    /// file, as QuickTime movies could.
    private static func referring(to path: String, _ movie: Data) throws -> Data {
        func number(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).reversed().map { UInt8(value >> (8 * $0) & 255) }
        }
        var alias = [UInt8](repeating: 0, count: 150)
        let name = Array(path.utf8)
        alias += number(2, 2) + number(name.count, 2) + name + (name.count % 2 == 1 ? [0] : [])
        alias += number(0xFFFF, 2) + number(0, 2)
        let entry = number(12 + alias.count, 4) + Array("alis".utf8) + [0, 0, 0, 0] + alias
        var bytes = movie
        let old = try #require(bytes.range(of: Data("url \0\0\0\u{1}".utf8)))
        bytes.replaceSubrange(old.lowerBound - 4..<old.upperBound, with: entry)
        for box in ["moov", "trak", "mdia", "minf", "dinf", "dref"] {
            let start = try #require(bytes.range(of: Data(box.utf8), options: .backwards)).lowerBound - 4
            let size = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            bytes.replaceSubrange(start..<start + 4, with: number(size + entry.count - 12, 4))
        }
        return bytes
    }
}
