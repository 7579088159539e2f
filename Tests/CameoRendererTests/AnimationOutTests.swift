import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Delays and loops in the output files, parsed here: libvips could misread what it miswrites.
@Suite(.timeLimit(.minutes(10)))
struct AnimationOutTests {
    private func rendered(_ format: Rendition.Format, of path: String) async throws -> EncodedRendition {
        var rendition = Rendition(width: 40, height: 40, format: format)
        rendition.encoding.animated = true
        return try await render(rendition, of: path).renditions[0]
    }

    /// Browsers treat a delay of 10 ms or less as 100 ms, and so does libvips.
    @Test(arguments: [
        ([50, 120, 300], [50, 120, 300]), ([11, 17, 65_000], [11, 17, 65_000]), ([0, 10, 40], [100, 100, 40]),
    ])
    func webPKeepsMilliseconds(_ delays: [Int], _ expected: [Int]) async throws {
        for loop in [0, 1, 3] {
            let source = try await timedWebP(delays, loop: loop)
            let made = try #require(AnimatedWebP(try await rendered(.webp, of: source).bytes))
            #expect(made.loop == loop)
            #expect(made.delays == expected)
        }
    }

    @Test func gifRoundsToHundredthsOfASecond() async throws {
        let source = try await timedWebP([14, 16, 333], loop: 0)
        let made = try #require(AnimatedGIF(try await rendered(.gif, of: source).bytes))
        #expect(made.delays == [1, 2, 33])
        #expect(made.loop == 0)
    }

    /// GIF counts repetitions after the first showing, WebP counts showings; a GIF without a count is shown once.
    @Test(arguments: [(0, 0), (1, nil), (2, 1), (5, 4)] as [(Int, Int?)])
    func loopsMeanTheSameInBothFormats(_ showings: Int, repetitions: Int?) async throws {
        let source = try await timedWebP([50, 120, 300], loop: showings)
        let gif = try await rendered(.gif, of: source)
        let made = try #require(AnimatedGIF(gif.bytes))
        #expect(made.loop == repetitions)
        #expect(made.delays == [5, 12, 30])
        let specimen = try await Specimen(gif)
        let back = try #require(AnimatedWebP(try await rendered(.webp, of: specimen.path).bytes))
        #expect(back.loop == showings)
        #expect(back.delays == [50, 120, 300])
        let again = try #require(AnimatedGIF(try await rendered(.gif, of: specimen.path).bytes))
        #expect(again.loop == repetitions)
    }

    @Test func animationsHaveNoMetadata() async throws {
        let made = try await rendered(.webp, of: Pictures.timedAnimation("webp"))
        for name in ["EXIF", "XMP ", "ICCP"] { #expect(made.bytes.range(of: Data(name.utf8)) == nil) }
        #expect(made.frames == 3)
    }

    private func timedWebP(_ delays: [Int], loop: Int) async throws -> String {
        let plain = try await Data(contentsOf: URL(filePath: Pictures.timedAnimation("webp")))
        let timed = try #require(AnimatedWebP(plain)).timed(delays, loop: loop)
        let name = "timed-\(delays.map(String.init).joined(separator: "-"))-\(loop).webp"
        return try await Pictures.bytes(name, Array(timed))
    }
}

/// The chunks ANIM and ANMF (https://developers.google.com/speed/webp/docs/riff_container).
private struct AnimatedWebP {
    private let bytes: [UInt8]
    private var loopAt = 0
    private var delaysAt: [Int] = []

    init?(_ data: Data) {
        bytes = Array(data)
        var position = 12
        while position + 8 <= bytes.count {
            let name = String(decoding: bytes[position..<position + 4], as: UTF8.self)
            if name == "ANIM" { loopAt = position + 12 }
            if name == "ANMF" { delaysAt.append(position + 20) }
            let length = Self.number(bytes[position + 4..<position + 8])
            position += 8 + length + length % 2
        }
        guard loopAt > 0 else { return nil }
    }

    private static func number(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    var loop: Int { Self.number(bytes[loopAt..<loopAt + 2]) }
    var delays: [Int] { delaysAt.map { Self.number(bytes[$0..<$0 + 3]) } }

    /// The same file with other delays.
    func timed(_ delays: [Int], loop: Int) -> [UInt8] {
        var bytes = bytes
        for index in 0..<2 { bytes[loopAt + index] = UInt8(truncatingIfNeeded: loop >> (index * 8)) }
        for (place, delay) in zip(delaysAt, delays) {
            for index in 0..<3 { bytes[place + index] = UInt8(truncatingIfNeeded: delay >> (index * 8)) }
        }
        return bytes
    }
}

/// Graphic control extensions, and Netscape's application extension with the loop count.
private struct AnimatedGIF {
    /// The delays in hundredths of a second.
    private(set) var delays: [Int] = []
    /// The repetitions, 0 for forever; nil if there is no count.
    private(set) var loop: Int?

    init?(_ data: Data) {
        let bytes = Array(data)
        guard bytes.starts(with: Array("GIF89a".utf8)) else { return nil }
        func skippingBlocks(from start: Int) -> Int {
            var position = start
            while position < bytes.count, bytes[position] > 0 { position += 1 + Int(bytes[position]) }
            return position + 1
        }
        func table(_ flags: UInt8) -> Int { flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0 }
        var position = 13 + table(bytes[10])
        while position + 10 < bytes.count {
            switch (bytes[position], bytes[position + 1]) {
            case (0x21, 0xF9):
                delays.append(Int(bytes[position + 4]) | Int(bytes[position + 5]) << 8)
                position = skippingBlocks(from: position + 2)
            case (0x21, 0xFF):
                if bytes[position + 3..<position + 11].elementsEqual("NETSCAPE".utf8) {
                    loop = Int(bytes[position + 16]) | Int(bytes[position + 17]) << 8
                }
                position = skippingBlocks(from: position + 2)
            case (0x21, _): position = skippingBlocks(from: position + 2)
            case (0x2C, _): position = skippingBlocks(from: position + 11 + table(bytes[position + 9]))
            default: return
            }
        }
    }
}
