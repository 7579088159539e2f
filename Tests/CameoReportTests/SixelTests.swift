import CameoReport
import Foundation
import Testing

/// Sixels, read again by a decoder that knows nothing of the encoder.
@Suite(.timeLimit(.minutes(10)))
struct SixelTests {
    /// What a terminal makes of a sequence: red, green, blue and alpha of each pixel.
    private struct Screen {
        var width = 0
        var height = 0
        var bytes: [UInt8] = []
        /// The bytes of each colour register.
        var registers: [Int: [UInt8]] = [:]

        init(showing sequence: Data) throws {
            let text = String(decoding: sequence, as: UTF8.self)
            let start = try #require(text.wholeMatch(of: #/\u{1B}P0;1q"1;1;([0-9]+);([0-9]+)([^\u{1B}]*)\u{1B}\\\n/#))
            width = try #require(Int(start.output.1))
            height = try #require(Int(start.output.2))
            bytes = [UInt8](repeating: 0, count: width * height * 4)
            var (column, band, color, end) = (0, 0, 0, start.output.3.startIndex)
            let body = start.output.3
            while end < body.endIndex {
                let rest = body[end...]
                if let definition = rest.prefixMatch(of: #/\#([0-9]+);2;([0-9]+);([0-9]+);([0-9]+)/#) {
                    color = try #require(Int(definition.output.1))
                    let parts = [definition.output.2, definition.output.3, definition.output.4].compactMap { Int($0) }
                    #expect(parts.count == 3 && parts.allSatisfy { $0 <= 100 } && registers[color] == nil)
                    registers[color] = parts.map { UInt8(($0 * 255 + 50) / 100) } + [255]
                    end = definition.range.upperBound
                } else if let choice = rest.prefixMatch(of: #/\#([0-9]+)/#) {
                    color = try #require(Int(choice.output.1))
                    end = choice.range.upperBound
                } else if let run = rest.prefixMatch(of: #/(?:!([0-9]+))?([?-~])/#) {
                    let count = run.output.1.flatMap { Int($0) } ?? 1
                    try draw(try #require(run.output.2.utf8.first) - 63, count, column, band, color)
                    column += count
                    end = run.range.upperBound
                } else if rest.first == "$" || rest.first == "-" {
                    column = 0
                    band += rest.first == "-" ? 1 : 0
                    end = body.index(after: end)
                } else {
                    Issue.record("not understood: \(rest.prefix(20))")
                    return
                }
            }
        }

        private mutating func draw(_ bits: UInt8, _ count: Int, _ column: Int, _ band: Int, _ color: Int) throws {
            try #require(column + count <= width)
            for row in 0..<6 where bits >> row & 1 == 1 {
                try #require(band * 6 + row < height)
                for column in column..<column + count {
                    let start = ((band * 6 + row) * width + column) * 4
                    #expect(bytes[start + 3] == 0, "each pixel is drawn once")
                    bytes.replaceSubrange(start..<start + 4, with: try #require(registers[color]))
                }
            }
        }
    }

    /// The largest difference of a channel, and the mean of all differences, where both are opaque.
    private func differences(_ screen: Screen, _ picture: Pixels) -> (largest: Int, mean: Double) {
        let all = zip(screen.bytes, picture.bytes).map { abs(Int($0) - Int($1)) }
        return (all.max() ?? 0, Double(all.reduce(0, +)) / Double(max(1, all.count)))
    }

    private func picture(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> [UInt8]) -> Pixels {
        var picture = Pixels(width: width, height: height, filledWith: [0, 0, 0, 0])
        for row in 0..<height {
            for column in 0..<width {
                picture.place(Pixels(width: 1, height: 1, filledWith: pixel(column, row)), left: column, top: row)
            }
        }
        return picture
    }

    @Test func aPictureIsWrittenInTheFewestCharacters() {
        var picture = Pixels(width: 9, height: 7, filledWith: [255, 0, 0, 255])
        picture.place(Pixels(width: 2, height: 1, filledWith: [0, 0, 255, 255]), left: 1, top: 2)
        picture.place(Pixels(width: 5, height: 1, filledWith: [0, 0, 0, 127]), left: 4, top: 6)
        #expect(
            String(decoding: Sixel.sequence(picture, colors: 256), as: UTF8.self)
                == "\u{1B}P0;1q\"1;1;9;7#0;2;0;0;100#1;2;100;0;0#0?CC$#1~zz!6~-#1!4@\u{1B}\\\n"
        )
    }

    /// Sixels name a colour in steps of a hundredth.
    @Test(arguments: [(1, 1), (5, 6), (6, 5), (16, 16), (64, 4), (3, 85)])
    func asManyColoursAsThereMayBeAreExact(width: Int, height: Int) throws {
        let picture = picture(width, height) { column, row in
            let number = row * width + column
            return [UInt8(number & 15) * 17, UInt8(number >> 4) * 17, UInt8(number & 1) * 200, 255]
        }
        let screen = try Screen(showing: Sixel.sequence(picture, colors: 256))
        #expect(screen.width == width && screen.height == height && screen.registers.count == width * height)
        #expect(differences(screen, picture).largest <= 2)
    }

    @Test func transparentPixelsAreLeftOut() throws {
        let picture = picture(20, 13) { column, row in
            (column + row) % 3 == 0 ? [0, 0, 0, 0] : [UInt8(column * 12), UInt8(row * 19), 90, 255]
        }
        let screen = try Screen(showing: Sixel.sequence(picture, colors: 256))
        #expect(differences(screen, picture).largest <= 2)
        let nothing = try Screen(
            showing: Sixel.sequence(Pixels(width: 3, height: 8, filledWith: [9, 9, 9, 0]), colors: 256)
        )
        #expect(nothing.registers.isEmpty && nothing.bytes.allSatisfy { $0 == 0 })
    }

    /// A picture with more colours than there may be: half of it varies in all channels, half is one colour and noise.
    @Test(arguments: [(256, 9.0), (16, 25.0), (2, 70.0)])
    func moreColoursBecomeSimilarOnes(colors: Int, mean: Double) throws {
        let picture = picture(96, 64) { column, row in
            column < 48
                ? [UInt8(column * 5), UInt8(row * 4), UInt8((column * row) & 255), 255]
                : [200 + UInt8((column * 7 + row * 13) % 16), 220, 240, 255]
        }
        let screen = try Screen(showing: Sixel.sequence(picture, colors: colors))
        #expect(screen.registers.count == colors)
        #expect(screen.registers.keys.max() == colors - 1)
        let found = differences(screen, picture)
        #expect(found.mean <= mean && (colors < 256 || found.largest <= 64), "\(found)")
        #expect(Sixel.sequence(picture, colors: colors) == Sixel.sequence(picture, colors: colors))
    }

    @Test(
        arguments: [
            ("", false, false, 256), ("\u{1B}[?62;4", false, false, 256), ("\u{1B}[?62;4c", true, true, 256),
            ("\u{1B}[?63;1;2;4;6;22c", true, true, 256), ("\u{1B}[?62;22c", true, false, 256),
            // A VT132 and a VT100; 4 is the terminal's kind in the first.
            ("\u{1B}[?4;6c", true, false, 256), ("\u{1B}[?6c", true, false, 256),
            ("\u{1B}[?62;14;40c", true, false, 256), ("\u{1B}[?c", true, false, 256),
            ("\u{1B}[?1;0;16S\u{1B}[?63;4c", true, true, 16), ("\u{1B}[?1;1S\u{1B}[?63;4c", true, true, 256),
            ("\u{1B}[?1;0;1024S\u{1B}[?63;4c", true, true, 1_024), ("\u{1B}[?1;0;0S\u{1B}[?63;4c", true, true, 256),
            ("\u{1B}[?1;0;99999999999999999999S\u{1B}[?63;4c", true, true, 256), ("jk\u{1B}[?62;4c", true, true, 256),
        ]
    )
    func aTerminalIsBelieved(text: String, isComplete: Bool, showsSixels: Bool, colors: Int) {
        var answer = TerminalAnswer()
        answer.text = text
        #expect(answer.isComplete == isComplete && answer.showsSixels == showsSixels && answer.colors == colors)
    }
}
