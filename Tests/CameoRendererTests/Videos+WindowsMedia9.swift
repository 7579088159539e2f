import Foundation
import TestSupport

extension Videos {
    /// As ``counter(frames:_:as:in:)``, in Windows Media Video 9, of which `ffmpeg` has no encoder: each frame is a keyframe
    /// of blocks of one colour (SMPTE 421M, main profile). `ffmpeg` copies it from AVI into the container of the name.
    static func windowsMedia9(frames: Int, as name: String) async throws -> String {
        let coded = (0..<frames).map(windowsMedia9Frame)
        // STRUCT_C: the main profile, and no option.
        let format =
            little(44, 160, 48) + [1, 0, 24, 0] + Array("WMV3".utf8) + little(0, 0, 0, 0, 0) + [0x40, 1, 0, 1]
        let stream =
            Array("vidsWMV3".utf8) + little(0, 0, 0, 1, 10, 0, frames, 0, 0xFFFF_FFFF, 0, 0) + [160, 0, 48, 0]
        let main = little(100_000, 0, 0, 0x10, frames, 0, 1, 0, 160, 48, 0, 0, 0, 0)
        let header = list("strl", chunk("strh", stream) + chunk("strf", format))
        let pictures = list("movi", coded.flatMap { chunk("00dc", $0) })
        var (index, offset) = ([UInt8](), 4)
        for frame in coded {
            index += Array("00dc".utf8) + little(0x10, offset, frame.count)
            offset += chunk("00dc", frame).count
        }
        let all = list("hdrl", chunk("avih", main) + header) + pictures + chunk("idx1", index)
        let avi = try folder.write(Data(chunk("RIFF", Array("AVI ".utf8) + all)), to: "wmv3.avi")
        return name.hasSuffix(".avi") ? avi : try await make(["-i", avi, "-c", "copy"], as: name)
    }

    private static func little(_ numbers: Int...) -> [UInt8] {
        numbers.flatMap { withUnsafeBytes(of: UInt32($0).littleEndian, Array.init) }
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(content.count) + content + (content.count % 2 == 1 ? [0] : [])
    }

    private static func list(_ name: String, _ content: [UInt8]) -> [UInt8] {
        chunk("LIST", Array(name.utf8) + content)
    }

    private static func windowsMedia9Frame(_ number: Int) -> [UInt8] {
        func bits(_ value: Int, _ count: Int) -> String {
            let digits = String(value, radix: 2)
            return String(repeating: "0", count: count - digits.count) + digits
        }
        // An I picture with a quantizer of 4, by which the DC coefficients of white and black are 209 and 14.
        var text = "00" + "0" + bits(0, 7) + bits(4, 5) + "0" + "000"
        var levels: [[Int]] = Array(repeating: Array(repeating: 128, count: 22), count: 8)
        for row in 0..<3 {
            for column in 0..<10 {
                // No coefficient but DC, not predicted from AC.
                text += "10"
                for block in 0..<4 {
                    // One row and column of what is predicted at the edges lies around.
                    let (x, y) = (column * 2 + block % 2 + 1, row * 2 + block / 2 + 1)
                    let (above, corner, left) = (levels[y - 1][x], levels[y - 1][x - 1], levels[y][x - 1])
                    let predicted = abs(above - corner) <= abs(corner - left) ? left : above
                    levels[y][x] = number >> column & 1 == 1 ? 209 : 14
                    let difference = levels[y][x] - predicted
                    // The escape code, the level and its sign; or none.
                    let escaped = bits(0x6078F, 24) + bits(abs(difference), 8) + (difference < 0 ? "1" : "0")
                    text += difference == 0 ? "1" : escaped
                }
                text += "0000"
            }
        }
        let digits = Array((text + "10000000").utf8)
        return stride(from: 0, to: digits.count - 7, by: 8).map { at in
            digits[at..<at + 8].reduce(0) { $0 << 1 | ($1 - 0x30) }
        }
    }
}
