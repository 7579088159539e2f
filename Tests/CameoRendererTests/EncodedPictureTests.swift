import CameoModel
import Foundation
import TestSupport
import Testing

@testable import CameoRenderer

/// What the worker itself reads from a rendition, whatever its renderer claims.
@Suite(.timeLimit(.minutes(10)))
struct EncodedPictureTests {
    private func made(_ format: Rendition.Format, animated: Bool = false) async throws -> EncodedRendition {
        var rendition = Rendition(width: 64, format: format)
        rendition.encoding.animated = animated
        let source = try await animated ? Pictures.animation("gif") : Pictures.photo("jpg")
        return try await rendered(rendition, of: source)
    }

    @Test(arguments: [Rendition.Format.png, .jpeg, .gif, .webp, .avif])
    func aRealPictureIsReadAsItIs(_ format: Rendition.Format) async throws {
        let rendition = try await made(format)
        let found = try #require(EncodedPicture(rendition.bytes, format))
        #expect((found.width, found.height, found.frames) == (64, 43, 1))
        // Also as a slice of other bytes.
        let within = (Data([0]) + rendition.bytes).dropFirst()
        #expect(EncodedPicture(within, format) == found)
    }

    @Test(arguments: [Rendition.Format.png, .jpeg, .gif, .webp, .avif])
    func bytesBehindItOrMissingFromItMakeItNone(_ format: Rendition.Format) async throws {
        let bytes = try await made(format).bytes
        for more in [Data([0]), bytes] {
            let longer = bytes + more
            #expect(EncodedPicture(longer, format) == nil)
        }
        for count in [0, 1, 12, 30, bytes.count / 2, bytes.count - 1] {
            let shorter = Data(bytes.prefix(count))
            #expect(EncodedPicture(shorter, format) == nil, "\(count)")
        }
    }

    @Test(arguments: [Rendition.Format.gif, .webp])
    func framesAreCounted(_ format: Rendition.Format) async throws {
        let rendition = try await made(format, animated: true)
        let found = try #require(EncodedPicture(rendition.bytes, format))
        #expect((rendition.frames, found.frames) == (3, 3))
    }

    /// Any bytes are refused or read within their bounds. The first byte is damaged too, and no format does without it.
    @Test(arguments: [Rendition.Format.png, .jpeg, .gif, .webp, .avif])
    func damagedBytesAreReadWithinTheirBounds(_ format: Rendition.Format) async throws {
        let bytes = try await made(format).bytes
        var random = SystemRandomNumberGenerator()
        var refused = 0
        for place in 0..<min(bytes.count, 500) {
            var damaged = bytes
            for _ in 0..<2 { damaged[Int.random(in: 1..<damaged.count, using: &random)] = .random(in: 0...255) }
            damaged[place] ^= 0xff
            if EncodedPicture(damaged, format) == nil { refused += 1 }
        }
        #expect(refused > 0)
    }
}
