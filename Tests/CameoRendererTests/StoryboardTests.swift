import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Sheets and previews of many moments of a video.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct StoryboardTests {
    private static func sheet(_ columns: Int, _ rows: Int, every interval: Double? = nil) -> Rendition {
        var rendition = Rendition(name: "sheet", width: 80, height: 80, format: .png)
        rendition.storyboard = Rendition.Storyboard(columns: columns, rows: rows, interval: interval)
        return rendition
    }

    /// The seconds of ``Videos/picture`` that tiles of 80 × 60 pixels are of, row by row.
    private static func seconds(_ pixels: PixelGrid) -> [Int?] {
        (0..<pixels.height / 60).flatMap { row in
            (0..<pixels.width / 80).map { Videos.second(pixels, at: (80 * $0 + 40, 60 * row + 15)) }
        }
    }

    @Test(arguments: [
        ("clip.mp4", "libx264", "-pix_fmt yuv420p"), ("clip.mov", "prores_ks", ""),
        ("fragments.mp4", "libx264", "-movflags frag_keyframe+empty_moov"), ("clip.avi", "mpeg4", "-q:v 3"),
        ("clip.webm", "libvpx", "-deadline realtime -b:v 1M"),
        // Its header does not tell how long it is.
        ("live.webm", "libvpx", "-deadline realtime -b:v 1M -live 1"),
        ("clip.mkv", "libx265", "-x265-params log-level=none:keyint=10"),
        // One keyframe.
        ("one.mp4", "libx264", "-pix_fmt yuv420p -g 1000 -sc_threshold 0"),
        ("one.webm", "libvpx-vp9", "-deadline realtime -b:v 1M -g 1000"),
    ])
    func tilesAreInTheOrderOfTime(name: String, encoder: String, options: String) async throws {
        let path = try await Videos.clip(encoder, options, as: name)
        let picture = try await Videos.render([Self.sheet(3, 2), Self.sheet(6, 1)], of: path)
        #expect(picture.renditions.map(\.edges) == [[240, 120], [480, 60]])
        for rendition in picture.renditions {
            #expect(Self.seconds(try await PixelGrid(of: rendition)) == [0, 1, 2, 3, 4, 5])
            #expect(rendition.frames == 1)
        }
        #expect(picture.source.edges == [160, 120] && picture.source.pages == 1)
        #expect(abs((picture.source.video?.duration ?? 0) - 6) < 0.2)
    }

    @Test func aTransportStreamHasNoIndexAndIsShownNearly() async throws {
        let path = try await Videos.clip("mpeg2video", "-r 25 -g 5 -q:v 3 -bf 0", as: "clip.ts")
        let picture = try await Videos.render([Self.sheet(2, 3)], of: path)
        let seconds = Self.seconds(try await PixelGrid(of: picture.renditions[0])).compactMap(\.self)
        #expect(seconds.count == 6 && seconds == seconds.sorted())
        for (index, second) in seconds.enumerated() { #expect(abs(index - second) <= 1) }
    }

    @Test func aShortVideoHasFewerTilesThanFit() async throws {
        let path = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        for (columns, rows, interval, seconds) in [
            (5, 4, 2.5, [1, 3, 5]), (2, 5, 2.5, [1, 3, 5, nil]), (1, 2, 0.1, [1, 4]), (9, 9, 60, [3]),
        ] as [(Int, Int, Double, [Int?])] {
            let picture = try await Videos.render([Self.sheet(columns, rows, every: interval)], of: path)
            let pixels = try await PixelGrid(of: picture.renditions[0])
            let shown = Self.seconds(pixels)
            #expect(shown == seconds, "\(columns) × \(rows), \(interval) s: \(pixels.width) × \(pixels.height)")
        }
    }

    @Test func everyStepAppliesToEachTile() async throws {
        let path = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        var rendition = Self.sheet(3, 2)
        rendition.fit = .cover
        rendition.rotate = .quarter
        rendition.look.cornerRadius = .circle
        rendition.background = .white
        let picture = try await Videos.render([rendition], of: path)
        #expect(picture.renditions[0].edges == [240, 160])
        let pixels = try await PixelGrid(of: picture.renditions[0])
        for tile in 0..<6 {
            let (left, top) = (tile % 3 * 80, tile / 3 * 80)
            #expect(pixels[left + 2, top + 2].allSatisfy { $0 > 240 }, "outside the circle")
            #expect(Videos.second(pixels, at: (left + 70, top + 40)) == tile)
        }
    }

    /// The frames of so many moments are made smaller than the video before they are cropped.
    @Test func aCropIsInPixelsOfTheVideo() async throws {
        let small = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        let path = try await Videos.make(
            [
                "-i", small, "-vf", "scale=1600:1200:out_color_matrix=bt709", "-colorspace", "bt709", "-c:v", "libx264",
                "-preset", "ultrafast", "-g", "10",
            ],
            as: "large.mp4"
        )
        var rendition = Self.sheet(10, 10)
        rendition.crop = Rendition.CropArea(left: 0, top: 0, width: 1_600, height: 600)
        let picture = try await Videos.render([rendition], of: path)
        #expect(picture.source.edges == [1_600, 1_200])
        #expect(picture.renditions[0].edges == [800, 300])
        let pixels = try await PixelGrid(of: picture.renditions[0])
        for row in 0..<10 { #expect(Videos.second(pixels, at: (40, 30 * row + 25)) == row * 6 / 10) }
    }

    @Test func aSheetThatIsTooLargeIsNamed() async throws {
        let path = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        var rendition = Self.sheet(10, 10)
        (rendition.width, rendition.height, rendition.withoutEnlargement) = (400, 300, false)
        let refused = await failure { try await Videos.render([rendition], of: path) }
        #expect(refused?.code == .imageTooManyPixels)
        #expect(refused?.message.contains("4000 × 3000") == true, "\(refused?.message ?? "")")
    }

    @Test(arguments: [Rendition.Format.webp, .gif])
    func aPreviewMoves(format: Rendition.Format) async throws {
        let path = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        var preview = Rendition(name: "preview", width: 80, format: format)
        preview.encoding.animated = true
        let picture = try await Videos.render([preview, Videos.rendition("2"), Self.sheet(2, 1)], of: path)
        // Equal frames are merged.
        #expect((6...10).contains(picture.renditions[0].frames))
        #expect(picture.renditions[1...].map(\.frames) == [1, 1])
        try #require(picture.renditions.map(\.edges) == [[80, 60], [160, 120], [160, 60]])
        let bytes = try Videos.folder.write(picture.renditions[0].bytes, to: "preview")
        let fields = try await Pictures.tool("vipsheader", ["-a", bytes])
        // Equal frames in a row may be one.
        let delays = fields.split(separator: "\n").first { $0.hasPrefix("delay: ") }?.split(separator: " ") ?? []
        #expect(delays.compactMap { Int($0) }.reduce(0, +) == 5_000, "\(fields)")
    }

    @Test func whatIsLeftOfATruncatedVideoIsShown() async throws {
        let whole = try await Videos.clip("libx264", "-movflags faststart -pix_fmt yuv420p", as: "clip.mp4")
        let bytes = try Data(file: whole)
        var sheets = 0
        for tenth in 1..<10 {
            let path = try Videos.folder.write(bytes.prefix(bytes.count * tenth / 10), to: "cut-\(tenth).mp4")
            do {
                let picture = try await Videos.render([Self.sheet(3, 2)], of: path)
                #expect(picture.renditions[0].edges == [240, 120])
                #expect(Self.seconds(try await PixelGrid(of: picture.renditions[0]))[0] == 0)
                sheets += 1
            } catch let failure as JobFailure {
                let codes: [JobFailure.Code] = [.imageCorrupt, .videoNoPicture, .videoUnsupportedCodec]
                #expect(codes.contains(failure.code), "\(failure)")
            }
        }
        #expect(sheets > 2)
    }

    @Test func aPictureIsNoStoryboard() async throws {
        let picture = try await Videos.render([Self.sheet(3, 2)], of: try await Pictures.photo("jpg"))
        #expect(picture.renditions[0].width == 80)
    }
}
