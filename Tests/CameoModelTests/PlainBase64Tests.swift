import CameoModel
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PlainBase64Tests {
    /// 28 bytes whose base64 contains everything that can be spelled in several ways: `+`, `/` and padding.
    private static let bytes = Data(
        Array("GIF89a".utf8) + [UInt8](repeating: 0xFB, count: 11) + [0xFF, 0xBF] + [UInt8](repeating: 0xFF, count: 9)
    )
    private static let text = bytes.base64EncodedString()

    private static let spellings: [(String, String)] = [
        ("as it is", text),
        ("without padding", text.replacing("=", with: "")),
        ("with half of the padding", String(text.dropLast())),
        ("URL-safe", text.replacing("+", with: "-").replacing("/", with: "_")),
        ("URL-safe without padding", text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")),
        ("both alphabets", text.replacing("+", with: "-")),
        (
            "percent-encoded where URIs need it",
            text.replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3D")
        ),
        ("percent-encoded throughout", text.utf8.map { "%" + String($0, radix: 16) }.joined()),
        ("with spaces", " " + text.map { "\($0) " }.joined()),
        ("in lines", text.prefix(20) + "%0D%0A" + text.dropFirst(20) + "%0A"),
    ]

    @Test func theTextContainsEverythingWithSeveralSpellings() {
        #expect(Self.text.hasSuffix("==") && Self.text.contains("+") && Self.text.contains("/"))
    }

    @Test(arguments: spellings)
    func everySpellingIsTheSamePicture(name: String, source: String) throws {
        #expect(PlainBase64.matches(source))
        #expect(try PlainBase64.decoded(source) == Self.bytes)
        let uri = CameoURI.blob(BlobDigest(of: Self.bytes)).text
        #expect(try SourceIdentity(of: source).text == uri)
        #expect(try SourceIdentity(of: "data:image/gif;base64,\(source)").text == uri)
        try ThumbnailRequest(source: source, renditions: [Rendition(width: 8)]).validate()
    }

    private static let beginnings: [(String, [UInt8])] = [
        ("JPEG", [0xFF, 0xD8, 0xFF, 0xE0]), ("PNG", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        ("GIF87a", Array("GIF87a".utf8)), ("GIF89a", Array("GIF89a".utf8)), ("WebP", Array("RIFF\u{1}\0\0\0WEBP".utf8)),
        ("TIFF", [0x49, 0x49, 0x2A, 0]), ("TIFF", [0x4D, 0x4D, 0, 0x2A]), ("BigTIFF", [0x49, 0x49, 0x2B, 0]),
        ("BigTIFF", [0x4D, 0x4D, 0, 0x2B]), ("HEIF", [0, 0, 0, 0x18] + Array("ftypheic".utf8)),
        ("AVIF", [0, 0, 0, 0x1C] + Array("ftypavif".utf8)),
        ("JXL", [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]), ("PDF", Array("%PDF-1.7".utf8)),
        ("SVG", Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)),
        ("SVG", Array("<?xml version='1.0'?><svg/>".utf8)),
        ("SVG", Array("<!-- a comment --><svg/>".utf8)), ("SVG", Array("<!DOCTYPE svg><svg/>".utf8)),
    ]

    @Test(arguments: beginnings)
    func everyKindOfPictureIsKnownByItsFirstBytes(kind: String, start: [UInt8]) throws {
        let bytes = Data(start + [UInt8](repeating: 7, count: 40))
        #expect(PictureFormat(sniffing: bytes) != nil)
        #expect(try PlainBase64.decoded(bytes.base64EncodedString()) == bytes)
        #expect(!PlainBase64.matches((Data([7]) + bytes).base64EncodedString()))
    }

    /// No picture has fewer than 24 bytes, so a shorter text is a file name.
    @Test func fewerThanThirtyTwoDigitsAreNotBase64() {
        let digits = Data(Array("GIF89a".utf8) + [UInt8](repeating: 7, count: 18)).base64EncodedString()
        #expect(digits.count == PlainBase64.minimumDigits)
        #expect(PlainBase64.matches(digits))
        #expect(!PlainBase64.matches(String(digits.dropLast())))
        #expect(!PlainBase64.matches(digits.dropLast() + "="))
    }

    @Test(arguments: [
        "", "picture.jpg", "/srv/pictures/holiday/IMG_0001", "/9j/4AAQ", "/9j/photos/of/the/holiday/2024.jpg",
        // The two magic bytes of bare JPEG XL, with which a path may begin.
        "/world/pictures/of/the/holiday/without/an/ending", "iVBORw0KGgo.iVBORw0KGgoAAAANSUhEUgAAAAE",
        "ivborw0kggoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAA", "base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=",
        "R0lGODlh*QABAAAAACwAAAAAAQABAAACAkQBADs=", "R0lGODlh%QABAAAAACwAAAAAAQABAAACAkQBADs=",
        "R0lGODlh\u{301}AQABAAAAACwAAAAAAQABAAACAkQBADs=", "=R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5eg==",
        "http://R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=/",
    ])
    func otherBeginningsAreNotPictures(source: String) throws {
        #expect(!PlainBase64.matches(source))
        #expect(throws: InvalidRequest.self) { try PlainBase64.decoded(source) }
        #expect(try SourceIdentity(of: source).text == source)
    }

    @Test(arguments: [
        ("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs*", "malformed"), ("R0lGODlhAQABAAAAACwAAAAAAQABAAACA", "malformed"),
        ("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs===", "malformed"),
        ("R0lGODlhAQABAAAAACwAAAAAAQABAAACAk=QBADs", "malformed"),
        ("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=.png", "malformed"),
        ("R0lGODlhAQABAAAAACwAAAAAAQABAAACÄkQBADs=", "malformed"),
        ("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQ%4", "hexadecimal"),
        ("R0lGODlhAQABAAAAACwAAAAAAQABAAAC%zz", "hexadecimal"),
    ])
    func aMalformedEndIsRefusedByName(source: String, reason: String) {
        let error = #expect(throws: InvalidRequest.self) {
            try ThumbnailRequest(source: source, renditions: [Rendition(width: 8)]).validate()
        }
        #expect(error?.path == "source")
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test func messagesNeverShowThePayload() {
        let source = Data(Array("GIF89a".utf8) + [UInt8](repeating: 7, count: 60_000)).base64EncodedString()
        #expect(SourceName.of(source) == "\(source.prefix(24))…")
        // The same holds if the end is not base64.
        #expect(SourceName.of(source + "*").count == 25)
    }

    @Test func aPictureMayBeAsLongAsARequestButNoLonger() throws {
        let longest = 1_048_000 / 4 * 3
        for count in [6_200, longest, longest + 900] {
            let source = Data(Array("GIF89a".utf8) + [UInt8](repeating: 7, count: count - 6)).base64EncodedString()
            let text = Data(#"{"source":"\#(source)","renditions":[{"width":8}]}"#.utf8)
            if text.count <= ThumbnailRequest.maximumBytes {
                #expect(try ThumbnailRequest(parsing: text).source == source)
            } else {
                #expect(throws: InvalidRequest.self) { try ThumbnailRequest(parsing: text) }
            }
        }
    }
}
