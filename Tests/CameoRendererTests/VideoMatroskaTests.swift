import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// What Matroska says of how a video is shown (RFC 9559): what is cut off, the shape of the rest, and how it is turned.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct VideoMatroskaTests {
    struct Crop: CustomTestStringConvertible, Sendable {
        let size: String
        /// PixelCropTop, -Bottom, -Left and -Right.
        let cut: [UInt8]
        /// Of the pixels as `ffmpeg` writes it, which makes the display's size.
        var aspect = "1"
        var unit: UInt8 = 0
        let edges: [Int]
        var isAtEnd = false

        var testDescription: String { "\(size) without \(cut), pixels \(aspect), unit \(unit)" }
    }

    static let crops = [
        Crop(size: "640x360", cut: [60, 60, 0, 0], edges: [640, 240]),
        Crop(size: "640x360", cut: [0, 0, 80, 80], aspect: "3/4", edges: [480, 360]),
        // 853 x 360 is the size of the display.
        Crop(size: "640x360", cut: [0, 0, 80, 80], aspect: "4/3", edges: [853, 360]),
        Crop(size: "640x360", cut: [0, 0, 80, 80], aspect: "4/3", unit: 3, edges: [853, 360]),
        // The display's unit is unknown: only the stream tells, whose pixels are square.
        Crop(size: "320x240", cut: [30, 30, 0, 0], unit: 4, edges: [320, 180]),
        Crop(size: "320x240", cut: [30, 30, 0, 0], edges: [320, 180], isAtEnd: true),
        Crop(size: "64x48", cut: [5, 7, 3, 9], edges: [52, 36]),
        Crop(size: "64x48", cut: [1, 1, 0, 0], edges: [64, 46]),
        Crop(size: "322x242", cut: [0, 0, 0, 0], edges: [322, 242]),
    ]

    @Test(arguments: crops)
    func whatIsCutOffIsNotShown(crop: Crop) async throws {
        let ids: [UInt16] = [0x54BB, 0x54AA, 0x54CC, 0x54DD]
        var elements: [UInt8] = []
        for (id, count) in zip(ids, crop.cut) where count > 0 { elements += Self.element(id, [count]) }
        if crop.unit > 0 { elements += Self.element(0x54B2, [crop.unit]) }
        let whole = try await clip(crop.size, aspect: crop.aspect)
        var cut = try Self.describing(Data(file: whole), by: elements)
        if crop.isAtEnd { cut = try Self.withTracksAtEnd(cut) }
        let path = try Videos.folder.write(cut, to: "cut.mkv")
        let (pixels, facts) = try await Videos.frame(path, "0")
        #expect(facts.edges == crop.edges && [pixels.width, pixels.height] == crop.edges)
        var sheet = Rendition(name: "sheet", width: crop.edges[0], height: crop.edges[1], format: .png)
        sheet.storyboard = Rendition.Storyboard(columns: 2, rows: 1)
        let tiles = try await Videos.render([sheet], of: path).renditions[0]
        #expect(tiles.width == 2 * crop.edges[0] && tiles.height == crop.edges[1])
        guard crop.aspect == "1" else { return }
        // As the same part of the whole frame, but for the edges, where colours of neighbours are missing.
        let all = try await Videos.frame(whole, "0").pixels
        let differences = (4..<pixels.height - 4).flatMap { y in
            (4..<pixels.width - 4).flatMap { x in
                zip(pixels[x, y], all[x + Int(crop.cut[2]), y + Int(crop.cut[0])]).map { abs($0 - $1) }
            }
        }
        #expect(differences.allSatisfy { $0 <= 3 }, "\(differences.max() ?? 0)")
    }

    /// ProjectionPoseYaw and -Roll, and where the white square is shown that is at the bottom left as it is coded.
    @Test(arguments: [
        ([0, 90], [120, 160], [100, 140]), ([0, 100], [120, 160], [100, 140]), ([0, -80], [120, 160], [20, 20]),
        ([0, 30], [160, 120], [20, 100]), ([0, 170], [160, 120], [140, 20]), ([180, 0], [160, 120], [140, 100]),
        ([180, 100], [120, 160], [100, 20]),
    ])
    func anglesAreTakenToTheNearestQuarter(angles: [Int], edges: [Int], place: [Int]) async throws {
        let names = "-vf setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=tv"
        let coded = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "coded.mp4")
        let words = "\(names) -c:v libx264 \(Self.colors)".words
        let plain = try await Videos.make(["-i", coded] + words, as: "plain.mkv")
        let numbers = angles.map { withUnsafeBytes(of: Float($0).bitPattern.bigEndian, Array.init) }
        let pose = Self.element(0x7673, numbers[0]) + Self.element(0x7675, numbers[1])
        let bytes = try Self.describing(Data(file: plain), by: Self.element(0x7670, pose))
        let path = try Videos.folder.write(bytes, to: "turned.mkv")
        let (pixels, facts) = try await Videos.frame(path, "0")
        #expect(facts.edges == edges)
        #expect(pixels[place[0], place[1]].allSatisfy { $0 > 230 }, "\(pixels[place[0], place[1]])")
    }

    private static let colors =
        "-color_primaries bt709 -color_trc bt709 -colorspace bt709 -color_range tv -chroma_sample_location left"

    private func clip(_ size: String, aspect: String) async throws -> String {
        let names = "setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=tv,setsar=\(aspect)"
        let picture = ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=10:d=1", "-vf", names]
        let words = "-c:v libx264 -qp 8 -pix_fmt yuv420p \(Self.colors)".words
        return try await Videos.make(picture + words, as: "whole.mkv")
    }

    /// An element of less than 127 bytes.
    private static func element(_ id: UInt16, _ content: [UInt8]) -> [UInt8] {
        [UInt8(id >> 8), UInt8(id & 255), 0x80 | UInt8(content.count)] + content
    }

    /// The file with these elements in place of the track's Colour, as long as that with a Void.
    private static func describing(_ file: Data, by elements: [UInt8]) throws -> Data {
        var bytes = file
        let colour = try #require(bytes.range(of: Data([0x55, 0xB0]))).lowerBound
        let rest = 3 + Int(bytes[colour + 2] & 0x7F) - elements.count
        try #require(rest >= 2)
        let void = [0xEC, 0x80 | UInt8(rest - 2)] + [UInt8](repeating: 0, count: rest - 2)
        bytes.replaceSubrange(colour..<colour + elements.count + rest, with: elements + void)
        return bytes
    }

    /// The file with its Tracks behind everything else, where SeekHead says that they are.
    private static func withTracksAtEnd(_ file: Data) throws -> Data {
        var bytes = file
        func number(at offset: Int, _ count: Int) -> Int {
            bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let id = Data([0x16, 0x54, 0xAE, 0x6B])
        let segment = try #require(bytes.range(of: Data([0x18, 0x53, 0x80, 0x67]))).upperBound
        let sought = try #require(bytes.range(of: Data([0x53, 0xAB, 0x84]) + id)).upperBound
        let tracks = try #require(bytes.range(of: id, options: .backwards)).lowerBound
        let width = bytes[tracks + 4].leadingZeroBitCount + 1
        let size = 4 + width + number(at: tracks + 4, width) & ((1 << (7 * width)) - 1)
        let moved = bytes[tracks..<tracks + size]
        let place = bytes.count - segment - 8
        // A SeekPosition of two bytes, which is that of the Tracks from now on.
        let wide = try #require(bytes.range(of: Data([0x53, 0xAC, 0x82])))
        try #require(bytes[segment] == 1 && place < 1 << 16)
        bytes.replaceSubrange(sought - 4..<sought, with: Data(bytes[wide.lowerBound - 4..<wide.lowerBound]))
        bytes.replaceSubrange(wide.lowerBound - 4..<wide.lowerBound, with: id)
        bytes.replaceSubrange(wide.upperBound..<wide.upperBound + 2, with: bigEndian(place, 2))
        let void = [0xEC, 0x01] + bigEndian(size - 9, 7) + [UInt8](repeating: 0, count: size - 9)
        bytes.replaceSubrange(tracks..<tracks + size, with: void)
        bytes.replaceSubrange(segment + 1..<segment + 8, with: bigEndian(place + size, 7))
        return bytes + moved
    }
}
