import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// What the boxes of an MP4's tracks say (ISO/IEC 14496-12): which is the picture, its clean aperture and its colours.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct VideoTrackTests {
    private static let h264 = "-c:v libx264 -pix_fmt yuv420p"

    private func size(_ bytes: Data, _ name: String = "changed.mp4") async throws -> [Int] {
        let path = try Videos.folder.write(bytes, to: name)
        return try await Videos.frame(path, "0").facts.edges
    }

    /// Of two tracks the first is larger.
    @Test func neitherAuxiliaryTracksNorPreviewsAreThePicture() async throws {
        let clip = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        let graph = "[0:v]split[a][b];[a]scale=320:240[c]"
        let two = ["-i", clip, "-filter_complex", graph, "-map", "[c]", "-map", "[b]", "-disposition:v", "default"]
        let path = try await Videos.make(two + Self.h264.words, as: "two.mp4")
        let movie = try Data(file: path)
        func flagged(_ flags: Int..., of bytes: Data? = nil) -> Data {
            flags.enumerated().reduce(bytes ?? movie) { bytes, flag in
                Boxes.changed(bytes, ["moov", "trak", "tkhd"], track: flag.offset) {
                    $0.prefix(1) + Boxes.number(flag.element, 3) + $0.dropFirst(4)
                }
            }
        }
        func handled(_ track: Int, of bytes: Data? = nil) -> Data {
            Boxes.changed(bytes ?? movie, ["moov", "trak", "mdia", "hdlr"], track: track) {
                $0.prefix(8) + Data("auxv".utf8) + $0.dropFirst(12)
            }
        }
        #expect(try await size(movie) == [320, 240])
        #expect(try await size(handled(0)) == [160, 120])
        #expect(try await size(handled(1)) == [320, 240])
        #expect(try await size(flagged(5, 3)) == [160, 120])
        #expect(try await size(flagged(4, 1)) == [160, 120])
        // All are for previews, or another is, or the other is not enabled.
        #expect(try await size(flagged(5, 5)) == [320, 240])
        #expect(try await size(flagged(3, 5)) == [320, 240])
        #expect(try await size(flagged(5, 2)) == [320, 240])
        // The track that is left is for previews.
        #expect(try await size(flagged(5, 3, of: handled(1))) == [320, 240])
        let none = try Videos.folder.write(handled(0, of: handled(1)), to: "none.mp4")
        let failure = await failure { try await Videos.render([Videos.rendition("0")], of: none) }
        #expect(failure?.code == .videoNoPicture)
    }

    struct Aperture: Sendable {
        /// Width, height and the offsets of the middle, as fractions; the pixel aspect; the matrix turns.
        let numbers: [Int]
        var aspect: [Int]?
        var isTurned = false
        let size: [Int]
        /// Of the white square at the bottom left, 40 pixels wide and high from row 80 on, the first pixel in the picture.
        let white: (x: Int, y: Int)?
        var isForged = false
    }

    static let apertures = [
        Aperture(numbers: [120, 1, 120, 1, 0, 1, 0, 1], size: [120, 120], white: (0, 80)),
        Aperture(numbers: [120, 1, 100, 1, -20, 1, 10, 1], size: [120, 100], white: (0, 60)),
        Aperture(numbers: [241, 2, 60, 1, 39, 2, -30, 1], size: [120, 60], white: nil),
        Aperture(numbers: [120, 1, 60, 1, -20, 1, 30, 1], aspect: [2, 1], size: [240, 60], white: (0, 20)),
        Aperture(numbers: [120, 1, 60, 1, -20, 1, 30, 1], isTurned: true, size: [60, 120], white: (0, 0)),
        Aperture(numbers: [400, 1, 60, 1, 0, 1, 0, 1], size: [160, 120], white: (0, 80), isForged: true),
        Aperture(numbers: [120, 1, 60, 1, 100, 1, 0, 1], size: [160, 120], white: (0, 80), isForged: true),
        Aperture(numbers: [120, 0, 60, 0, 0, 0, 0, 0], size: [160, 120], white: (0, 80), isForged: true),
    ]

    @Test(arguments: apertures)
    func theCleanApertureIsShown(aperture: Aperture) async throws {
        let clip = try await Videos.clip("libx264", "-pix_fmt yuv420p -qp 4", as: "clip.mp4")
        let entry = ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"]
        var movie = Boxes.changed(try Data(file: clip), entry + ["pasp"]) { _ in nil }
        movie = Boxes.changed(movie, entry) { content in
            let shape = aperture.aspect.map { Boxes.box("pasp", Boxes.number($0[0], 4) + Boxes.number($0[1], 4)) }
            let numbers = aperture.numbers.reduce(Data()) { $0 + Boxes.number($1, 4) }
            return content + Boxes.box("clap", numbers) + (shape ?? Data())
        }
        // A quarter turn clockwise; and the size that the track is shown in.
        let turn = [0, 65_536, 0, -65_536, 0, 0].reduce(Data()) { $0 + Boxes.number($1, 4) }
        let shown = Boxes.number(aperture.numbers[0] << 16, 4) + Boxes.number(aperture.numbers[2] << 16, 4)
        let isKept = aperture.isTurned || aperture.size == [160, 120]
        movie = Boxes.changed(movie, ["moov", "trak", "tkhd"]) {
            let matrix = aperture.isTurned ? turn : Data($0.dropFirst(40).prefix(24))
            return $0.prefix(40) + matrix + $0.dropFirst(64).prefix(12) + (isKept ? $0.suffix(8) : shown)
        }
        let path = try Videos.folder.write(movie, to: "aperture.mp4")
        do {
            let (pixels, facts) = try await Videos.frame(path, "0")
            #expect(facts.edges == aperture.size)
            guard let white = aperture.white, facts.edges == aperture.size else { return }
            #expect(pixels[white.x + 4, white.y + 4].allSatisfy { $0 > 200 }, "\(pixels[white.x + 4, white.y + 4])")
        } catch let failure as JobFailure where aperture.isForged {
            // Newer versions of libavformat, such as FFmpeg 7.1's, read no file with such a box.
            #expect(failure.code == .imageCorrupt)
        }
    }

    /// The stream says BT.709, and is BT.601.
    @Test(arguments: ["libx264", "libx265"])
    func theColorsOfTheBoxGoBeforeThoseOfTheStream(encoder: String) async throws {
        var graph = Videos.picture
        graph[1] += ",scale=out_color_matrix=smpte170m,setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709"
        let deep = encoder == "libx265" ? ["-x265-params", "log-level=none:qp=4:colormatrix=bt709"] : ["-qp", "4"]
        let options = ["-c:v", encoder, "-pix_fmt", "yuv420p", "-g", "10", "-colorspace", "bt709"] + deep
        let path = try await Videos.make(graph + options, as: "colors.mp4")
        let movie = try Data(file: path)
        let entry = ["moov", "trak", "mdia", "minf", "stbl", "stsd", encoder == "libx264" ? "avc1" : "hev1"]
        func difference(_ matrix: Int?) async throws -> Int {
            var bytes = Boxes.changed(movie, entry + ["colr"]) { _ in nil }
            if let matrix {
                let colors = [1, 1, matrix].reduce(Data("nclx".utf8)) { $0 + Boxes.number($1, 2) } + [0]
                bytes = Boxes.changed(bytes, entry) { $0 + Boxes.box("colr", colors) }
            }
            let path = try Videos.folder.write(bytes, to: "named.mp4")
            let pixel = try await Videos.frame(path, "0").pixels[80, 30]
            return zip(pixel, Videos.colors[0]).map { abs($0 - $1) }.max() ?? 255
        }
        #expect(try await difference(nil) > 8)
        #expect(try await difference(1) > 8)
        #expect(try await difference(6) <= 5)
        // What the box does not name, the stream does.
        #expect(try await difference(2) > 8)
    }
}
