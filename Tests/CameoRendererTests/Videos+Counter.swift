import Foundation
import TestSupport
import Testing

extension Videos {
    /// A file and the options of `ffmpeg` that make it.
    struct Kind: CustomTestStringConvertible, Sendable {
        let file: String
        let options: String

        var testDescription: String { "\(file): \(options)" }
    }

    /// Frames that show their number in ten squares, the lowest digit first, at ten frames a second.
    static func counter(frames: Int = 60, _ options: String, as name: String) async throws -> String {
        let squares = "255*mod(floor(N/pow(2,floor(X/16))),2)"
        let numbered = "nullsrc=s=160x48:r=10:d=\(Double(frames) / 10),format=gray,geq=lum='\(squares)'"
        return try await make(["-f", "lavfi", "-i", numbered] + options.words, as: name)
    }

    /// The number of a frame of ``counter(frames:_:as:in:)``.
    static func number(_ pixels: PixelGrid, top: Int = 0) -> Int {
        (0..<10).reduce(0) { $0 + (pixels[$1 * 16 + 8, top + 24][0] > 128 ? 1 << $1 : 0) }
    }

    /// Those of tiles one below the other.
    static func numbers(_ tiles: PixelGrid) -> [Int] { (0..<tiles.height / 48).map { number(tiles, top: $0 * 48) } }
}
