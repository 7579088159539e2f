import CameoReport
import Foundation
import TestSupport
import Testing

/// Pictures in a terminal: how a renderer's PNG is read, and what is drawn.
@Suite(.timeLimit(.minutes(10)))
struct PixelsTests {
    /// A PNG by Python's zlib: with each of the filters in turn, compressed at a level.
    private func png(channels: Int, level: Int, width: Int = 61, height: Int = 37) async throws -> (Data, [[UInt8]]) {
        let script = """
            import json, random, struct, sys, zlib
            channels, level, width, height = map(int, sys.argv[1:])
            random.seed(channels * 10 + level)
            rows = [bytes(random.choice([x * 3 & 255, 7, random.randrange(256)]) for x in range(width * channels))
                    for y in range(height)]
            def paeth(a, b, c):
                p = a + b - c
                return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            data, above = bytearray(), bytes(width * channels)
            for y, row in enumerate(rows):
                data.append(y % 5)
                for i, value in enumerate(row):
                    left = row[i - channels] if i >= channels else 0
                    corner = above[i - channels] if i >= channels else 0
                    guess = [0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner)][y % 5]
                    data.append(value - guess & 255)
                above = row
            def chunk(name, body):
                return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
            packed = zlib.compress(bytes(data), level)
            half = len(packed) // 2
            kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
            png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)) \\
                + chunk(b"IDAT", packed[:half]) + chunk(b"IDAT", packed[half:]) + chunk(b"IEND", b"")
            print(json.dumps([png.hex(), [row.hex() for row in rows]]))
            """
        let arguments = [channels, level, width, height].map(String.init)
        let result = try await run("/usr/bin/python3", ["-c", script] + arguments)
        #expect(result.exitStatus == 0, "\(result.errorText)")
        let parts = try JSONSerialization.jsonObject(with: result.standardOutput) as? [Any] ?? []
        func bytes(_ hex: String) -> [UInt8] {
            let digits = Array(hex.utf8)
            return stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
            }
        }
        let rows = (parts.last as? [String] ?? []).map(bytes)
        return (Data(bytes(parts.first as? String ?? "")), rows)
    }

    @Test(arguments: [1, 2, 3, 4], [0, 1, 9])
    func aPNGIsReadAsItWasWritten(channels: Int, level: Int) async throws {
        let (data, rows) = try await png(channels: channels, level: level)
        let pixels = try #require(Pixels(png: data))
        #expect(pixels.width == 61 && pixels.height == 37)
        let expected = rows.joined().enumerated().reduce(into: [UInt8]()) { bytes, element in
            let (channel, value) = (element.offset % channels, element.element)
            switch channels {
            case 1: bytes += [value, value, value, 255]
            case 2: bytes += channel == 0 ? [value, value, value] : [value]
            default: bytes += channel == 2 && channels == 3 ? [value, 255] : [value]
            }
        }
        #expect(pixels.bytes == expected)
    }

    /// A renderer that was taken over may send anything.
    @Test func whatIsDamagedIsRefusedOrRead() async throws {
        let (data, _) = try await png(channels: 4, level: 6, width: 23, height: 11)
        for count in 0..<data.count { #expect(Pixels(png: data.prefix(count)) == nil || count > data.count - 14) }
        for index in data.indices {
            for bit in 0..<8 {
                var damaged = data
                damaged[index] ^= 1 << bit
                if let pixels = Pixels(png: damaged) { #expect(pixels.bytes.count == pixels.width * pixels.height * 4) }
            }
        }
    }

    @Test func itsOwnPNGIsReadByOthersAndByItself() async throws {
        var picture = Pixels(width: 300, height: 200, filledWith: [1, 2, 3, 255])
        picture.place(Pixels(width: 100, height: 150, filledWith: [250, 0, 9, 128]), left: 200, top: 50)
        #expect(Pixels(png: picture.png()) == picture)
        let script = """
            import struct, sys, zlib
            data = sys.stdin.buffer.read()
            at, packed = 8, b""
            while at < len(data):
                (length,), name = struct.unpack(">I", data[at:at + 4]), data[at + 4:at + 8]
                body = data[at + 8:at + 8 + length]
                assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(name + body)
                packed += body if name == b"IDAT" else b""
                at += 12 + length
            rows = zlib.decompress(packed)
            print(len(rows), rows[60 * 1201 + 1 + 800:][:4].hex(), rows[:5].hex())
            """
        let result = try await run("/usr/bin/python3", ["-c", script], input: picture.png())
        #expect(result.outputText == "\(200 * 1_201) fa000980 00010203ff\n", "\(result.errorText)")
    }

    @Test func halfBlocksHaveTwoPixelsEach() {
        var picture = Pixels(width: 2, height: 3, filledWith: [255, 0, 0, 255])
        picture.place(Pixels(width: 1, height: 1, filledWith: [0, 0, 255, 255]), left: 0, top: 1)
        picture.place(Pixels(width: 1, height: 1, filledWith: [9, 9, 9, 0]), left: 1, top: 0)
        #expect(
            HalfBlocks.lines(picture, .all) == [
                "\u{1B}[38;2;255;0;0;48;2;0;0;255m▀\u{1B}[49;38;2;255;0;0m▄\u{1B}[0m",
                "\u{1B}[49;38;2;255;0;0m▀▀\u{1B}[0m",
            ]
        )
        #expect(HalfBlocks.lines(picture, .palette)[1] == "\u{1B}[49;38;5;196m▀▀\u{1B}[0m")
        let white = Pixels(width: 3, height: 2, filledWith: [255, 255, 255, 255])
        #expect(HalfBlocks.lines(white, .none) == ["@@@"])
    }

    @Test(
        arguments: [
            (["TERM": "xterm-kitty"], .kitty), (["KITTY_WINDOW_ID": "1"], .kitty),
            (["TERM_PROGRAM": "ghostty"], .kitty),
            (["TERM_PROGRAM": "iTerm.app"], .iterm), (["LC_TERMINAL": "iTerm2"], .iterm),
            (["TERM_PROGRAM": "WezTerm"], .iterm), (["TERM": "xterm-256color", "KONSOLE_VERSION": "220401"], .kitty),
            (["TERM": "foot"], .sixel), (["TERM": "foot-extra"], .sixel), (["TERM": "mlterm"], .sixel),
            (["TERM": "xterm", "MLTERM": "3.9.2"], .sixel), (["TERM": "contour-latest"], .sixel),
            (["TERM": "xterm-256color", "TERMINAL_NAME": "contour"], .sixel),
            (["TERM": "xterm-256color"], nil), (["TERM": "xterm", "XTERM_VERSION": "XTerm(379)"], nil), ([:], nil),
            (["KITTY_WINDOW_ID": "1", "TMUX": "/tmp/x"], .blocks), (["TERM": "foot", "TMUX": "/tmp/x"], .blocks),
            (["TERM": "screen", "LC_TERMINAL": "iTerm2"], .blocks), (["TERM": "xterm", "STY": "1.pts"], .blocks),
        ] as [([String: String], TerminalPictures?)]
    )
    func aTerminalIsKnownByItsEnvironment(environment: [String: String], way: TerminalPictures?) {
        #expect(TerminalPictures(environment: environment) == way)
    }

    @Test func thePictureIsSentInParts() throws {
        let png = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0) })
        let kitty = try #require(TerminalPictures.kitty.sequence(png: png))
        let parts = kitty.matches(of: #/\u{1B}_G([^;]*);([^\u{1B}]*)\u{1B}\\/#)
        #expect(parts.map { String($0.output.1) } == ["a=T,f=100,q=2,m=1", "m=0"])
        #expect(parts.allSatisfy { $0.output.2.utf8.count <= 4_096 })
        #expect(Data(base64Encoded: parts.map { String($0.output.2) }.joined()) == png)
        let iterm = try #require(TerminalPictures.iterm.sequence(png: png))
        #expect(iterm.hasPrefix("\u{1B}]1337;File=inline=1;size=5000:") && iterm.hasSuffix("\u{7}\n"))
        #expect(TerminalPictures.blocks.sequence(png: png) == nil && TerminalPictures.sixel.sequence(png: png) == nil)
    }
}
