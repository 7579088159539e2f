import CameoModel
import Foundation
import TestSupport
import Testing

/// How files are recognised by their first bytes.
@Suite(.timeLimit(.minutes(10)))
struct VideoContainerTests {
    private static func box(_ name: String, _ content: [UInt8] = []) -> [UInt8] {
        [0, 0, UInt8((content.count + 8) >> 8), UInt8((content.count + 8) & 255)] + Array(name.utf8) + content
    }

    private static func stream(every stride: Int, behind first: Int, of packets: Int = 20) -> [UInt8] {
        (0..<packets * stride).map { $0 % stride == first ? 0x47 : 0x11 }
    }

    private static let brands = Array("isom\0\0\u{2}\0isom".utf8)

    static let beginnings: [(String, [UInt8], VideoContainer?)] = [
        ("QuickTime with a preview", box("pnot", [UInt8](repeating: 1, count: 12)) + box("moov"), .mp4),
        ("uuid", box("uuid", [UInt8](repeating: 7, count: 30)) + box("ftyp", brands), .mp4),
        ("a fragment", box("styp", brands) + box("sidx"), .mp4),
        ("moof", box("moof"), .mp4), ("emsg", box("emsg"), .mp4), ("prft", box("prft"), .mp4),
        ("wide", box("wide") + box("mdat"), .mp4), ("free", box("free") + box("ftyp", brands), .mp4),
        ("skip", box("skip"), .mp4), ("udta", box("udta"), .mp4), ("meta", box("meta"), .mp4),
        ("mdat of 1 GiB", [0x40, 0, 0, 0] + Array("mdat".utf8), .mp4),
        ("text with the word of a box", Array("The free software movement".utf8), nil),
        ("188 bytes", stream(every: 188, behind: 0), .mpegTS), ("192 bytes", stream(every: 192, behind: 4), .mpegTS),
        ("204 bytes", stream(every: 204, behind: 0), .mpegTS),
        ("204 bytes from within one", stream(every: 204, behind: 77), .mpegTS),
        ("205 bytes", stream(every: 205, behind: 0), nil),
        ("a program stream", [0, 0, 1, 0xBA, 0x44, 0], .mpegPS),
        ("AVI", Array("RIFF\u{1}\u{1}\0\0AVI LIST".utf8), .avi),
        ("WAV", Array("RIFF\u{1}\u{1}\0\0WAVEfmt ".utf8), .wav),
        ("RF64", Array("RF64\u{7F}\u{7F}\u{7F}\u{7F}WAVEds64".utf8), .wav),
        ("AIFF", Array("FORM\0\0\u{1}\0AIFFCOMM".utf8), .aiff), ("AIFC", Array("FORM\0\0\u{1}\0AIFCFVER".utf8), .aiff),
        ("another IFF", Array("FORM\0\0\u{1}\0ILBMBMHD".utf8), nil),
        ("FLV", Array("FLV\u{1}\u{5}\0\0\0\u{9}".utf8), .flv), ("FLAC", Array("fLaC\0\0\0\u{22}".utf8), .flac),
        ("Ogg", Array("OggS\0\u{2}".utf8), .ogg), ("MP3", Array("ID3\u{3}\0\0".utf8), .mp3),
        ("Matroska", [0x1A, 0x45, 0xDF, 0xA3, 0x93], .matroska),
        ("ASF", [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0, 0xAA, 0, 0x62, 0xCE, 0x6C, 0], .asf),
        ("WebP", Array("RIFF\u{1}\u{1}\0\0WEBPVP8 ".utf8), nil),
        ("JPEG", [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF".utf8), nil),
        ("PNG", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], nil),
        ("HEIF", box("ftyp", Array("heic\0\0\0\0mif1".utf8)) + box("meta"), nil),
        ("AVIF", box("ftyp", Array("avif\0\0\0\0mif1".utf8)) + box("meta"), nil),
        ("JPEG XL", box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]), nil),
        ("JPEG 2000", box("jP  ", [0x0D, 0x0A, 0x87, 0x0A]), nil),
        ("nothing", [], nil),
    ]

    @Test(arguments: beginnings)
    func aFileIsRecognisedByItsBeginning(name: String, bytes: [UInt8], container: VideoContainer?) {
        #expect(VideoContainer(sniffing: bytes) == container, "\(name)")
        for count in 0..<min(bytes.count, 3) {
            #expect(VideoContainer(sniffing: bytes.prefix(count)) == nil, "\(count) bytes of \(name)")
        }
    }

    @Test func everyContainerAndCodecIsNamedOnce() {
        #expect(Set(VideoContainer.allCases.map(\.name)).count == VideoContainer.allCases.count)
        #expect(Set(VideoContainer.allCases.map(\.demuxer)).count == VideoContainer.allCases.count)
        let decoders = VideoFacts.Codec.allCases.flatMap(\.decoders)
        #expect(Set(decoders).count == decoders.count)
        #expect(VideoFacts.Codec.allCases.filter(\.isOnlyOfCovers) == [.png, .gif, .webp, .bmp])
    }

    @Test func factsFromBeforeCoversWereToldAreStillRead() throws {
        let stored = #"{"codec":"mjpeg","rotation":0,"hasAudio":true}"#
        let facts = try WireFormat.decode(VideoFacts.self, from: Data(stored.utf8))
        #expect(facts.cover == nil && facts.codec == .mjpeg)
        let told = VideoFacts(duration: nil, time: nil, codec: .png, rotation: 0, hasAudio: true, cover: .additional)
        #expect(try WireFormat.decode(VideoFacts.self, from: WireFormat.encode(told)) == told)
    }
}
