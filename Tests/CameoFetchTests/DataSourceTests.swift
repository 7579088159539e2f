import CameoFetch
import CameoModel
import CameoSystem
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DataSourceTests {
    private let fetcher: Fetcher

    init() throws {
        fetcher = try Fetcher(FetchConfiguration.forTests.with(\.maximumBytes, 10_000))
    }

    @Test(arguments: [
        "data:text/plain;base64,cGljdHVyZQ==", "DATA:text/plain;base64,cGljdHVyZQ", "data:text/plain,pict%75re",
    ])
    func bytesArriveInASealedFileWithTheirDigest(uri: String) async throws {
        let source = try await fetcher.fetch(uri)
        #expect(try source.contents() == Data("picture".utf8))
        #expect(source.bytes == 7)
        #expect(source.mediaType == "text/plain")
        #expect(source.digest == BlobDigest(of: Data("picture".utf8)))
        #expect(source.offset == 0)
        #expect(write(source.file.descriptor, "x", 1) == -1)
        #expect(ftruncate(source.file.descriptor, 0) == -1)
        #expect(source.changeSinceOpened() == nil)
    }

    @Test
    func plainBase64IsReadLikeADataURI() async throws {
        let bytes = Data(Self.heads[1].head + [UInt8](repeating: 0xFB, count: 400))
        let text = bytes.base64EncodedString()
        for source in [
            text, text.replacing("=", with: ""), text.replacing("/", with: "_"), text.replacing("+", with: "%2B"),
        ] {
            let fetched = try await fetcher.fetch(source)
            #expect(try fetched.contents() == bytes)
            #expect(fetched.mediaType == nil)
            #expect(fetched.digest == BlobDigest(of: bytes))
            #expect(write(fetched.file.descriptor, "x", 1) == -1)
        }
        let broken = try await failure(of: text + "*", with: fetcher)
        #expect(broken.code == .sourceInvalid)
        #expect(broken.message == "\(text.prefix(24))… cannot be read: the picture's base64 is malformed")
        let large = Data(Self.heads[1].head + [UInt8](repeating: 1, count: 10_000)).base64EncodedString()
        #expect(try await failure(of: large, with: fetcher).code == .sourceTooLarge)
    }

    @Test(arguments: [
        ("data:", "comma"), ("data:image/png;base64,", "empty"), ("data:,", "empty"),
        ("data:text/plain;base64,a", "base64"), ("data:text/plain;base64,a*b=", "base64"), ("data:,100%", "%"),
    ])
    func malformedOrEmptyDataIsInvalid(uri: String, reason: String) async throws {
        try await expect(.sourceInvalid, of: uri, by: fetcher, saying: reason)
    }

    @Test
    func moreThanTheLimitIsTooLarge() async throws {
        for uri in [
            "data:," + String(repeating: "x", count: 10_001), "data:," + String(repeating: "%41", count: 50_000),
        ] {
            let failure = try await failure(of: uri, with: fetcher)
            #expect(failure.code == .sourceTooLarge)
            #expect(failure.message.contains("10000"))
            #expect(failure.message.count < 200)
        }
        #expect(try await fetcher.fetch("data:," + String(repeating: "x", count: 10_000)).bytes == 10_000)
    }

    private static let heads: [(type: String, head: [UInt8])] = [
        ("image/jpeg", [0xFF, 0xD8, 0xFF, 0xE0]),
        ("image/png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        ("image/gif", Array("GIF89a".utf8)),
        ("image/webp", Array("RIFF\u{1}\u{1}\u{1}\u{1}WEBP".utf8)),
        ("image/tiff", [0x49, 0x49, 0x2A, 0x00]),
        ("image/avif", [0, 0, 0, 20] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + Array("avif".utf8)),
        ("image/heic", [0, 0, 0, 16] + Array("ftypheic".utf8) + [0, 0, 0, 0]),
    ]

    @Test
    func aDeclaredTypeMustFitTheFirstBytes() async throws {
        for (type, head) in Self.heads {
            let payload = Data(head + [UInt8](repeating: 1, count: 40)).base64EncodedString()
            #expect(try await fetcher.fetch("data:\(type);base64,\(payload)").mediaType == type)
            #expect(try await fetcher.fetch("data:;base64,\(payload)").mediaType == nil)
            #expect(try await fetcher.fetch("data:image/x-own;base64,\(payload)").mediaType == "image/x-own")
            for (other, _) in Self.heads where other != type && (other, type) != ("image/heic", "image/avif") {
                try await expect(.sourceInvalid, of: "data:\(other);base64,\(payload)", by: fetcher, saying: other)
            }
        }
    }
}
