import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// Videos whose frames cannot be shown as they are meant, and what is said of them.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct VideoRefusalTests {
    struct Stream: CustomTestStringConvertible, Sendable {
        var encoder = "libx264"
        var hasSound = false
        /// Whose packets are scrambled.
        let streams: Set<Int>
        /// Of all packets, a tenth is one.
        var packets = 0..<10
        var scramblesBeginnings = true
        var stride = 188
        let isEncrypted: Bool

        var testDescription: String {
            "\(encoder)\(hasSound ? " with sound" : ""), \(streams.sorted()) of \(packets), \(stride) bytes"
                + (scramblesBeginnings ? "" : ", beginnings clear")
        }
    }

    private static let (video, sound) = (0x100, 0x101)

    static let streams = [
        Stream(streams: [video], isEncrypted: true),
        Stream(streams: [video], stride: 192, isEncrypted: true),
        Stream(streams: [video], stride: 204, isEncrypted: true),
        Stream(encoder: "mpeg2video", streams: [video], isEncrypted: true),
        Stream(encoder: "mpeg2video", streams: [video], scramblesBeginnings: false, isEncrypted: true),
        Stream(hasSound: true, streams: [video], isEncrypted: true),
        Stream(hasSound: true, streams: [video, sound], isEncrypted: true),
        // What cannot be heard is seen, and what could be opened at last is shown.
        Stream(hasSound: true, streams: [sound], isEncrypted: false),
        Stream(streams: [video], packets: 0..<3, isEncrypted: false),
        // Only the table says that access is conditional.
        Stream(streams: [], isEncrypted: false),
        Stream(streams: [], stride: 192, isEncrypted: false),
        Stream(streams: [], stride: 204, isEncrypted: false),
    ]

    /// That of `cameo-frames`: no renderer was asked.
    @Test func theProcessorTimeOfARefusedVideoIsKnown() async throws {
        let path = try Videos.folder.write(Data("\0\0\0\u{18}ftypmp42\0\0\0\0mp42isom".utf8), to: "film.mp4")
        let request = RenderRequest([Videos.rendition("auto")], of: try OpenFile(reading: path), named: path)
        let (pools, clock) = (Videos.pools, WorkClock())
        await #expect(throws: JobFailure.self) {
            try await pools.renderer.render(request, frames: pools.frames, clock: clock)
        }
        #expect(clock.processorTime != nil)
    }

    @Test(arguments: streams)
    func aScrambledTransportStreamIsEncrypted(stream: Stream) async throws {
        let tone = stream.hasSound ? ["-f", "lavfi", "-i", "sine=d=6", "-c:a", "aac"] : []
        let scene = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=6"]
        let words = "-c:v \(stream.encoder) -g 25 -q:v 3 -pix_fmt yuv420p".words
        let clear = try await Videos.make(scene + tone + words, as: "clear.ts")
        let bytes = try Self.scrambled(Data(file: clear), stream)
        let path = try Videos.folder.write(bytes, to: "stream.ts")
        guard stream.isEncrypted else {
            let facts = try await Videos.frame(path).facts
            #expect(facts.edges == [320, 240])
            return
        }
        for time in ["auto", "3"] {
            let refusal = await failure { try await Videos.render([Videos.rendition(time)], of: path) }
            #expect(refusal?.code == .videoEncrypted, "\(time): \(String(describing: refusal))")
        }
    }

    /// Sets transport_scrambling_control (ISO/IEC 13818-1, 2.4.3.3) of packets that carry something, and makes noise of that;
    /// adds a CA descriptor (2.6.16) to the table of the program.
    private static func scrambled(_ file: Data, _ stream: Stream) throws -> Data {
        var (result, noise): (Data, UInt32) = (Data(), 1)
        let count = file.count / 188
        for index in 0..<count {
            var packet = [UInt8](file[index * 188..<(index + 1) * 188])
            let id = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
            let isBeginning = packet[1] & 0x40 != 0
            let isChosen = stream.streams.contains(id) && stream.packets.contains(index * 10 / count)
            if isChosen, packet[3] & 0x10 != 0, stream.scramblesBeginnings || !isBeginning {
                let start = packet[3] & 0x20 != 0 ? 5 + Int(packet[4]) : 4
                packet[3] |= 0x80
                for place in start..<188 {
                    noise = noise &* 1_664_525 &+ 1_013_904_223
                    packet[place] ^= UInt8(noise >> 24)
                }
            } else if id == 0x1000, isBeginning {
                try withConditionalAccess(&packet)
            }
            if stream.stride == 192 { result.append(contentsOf: [0, 0, 0x10, 0]) }
            result.append(contentsOf: packet)
            if stream.stride == 204 { result.append(Data(count: 16)) }
        }
        return result
    }

    private static func withConditionalAccess(_ packet: inout [UInt8]) throws {
        let length = Int(packet[6] & 0x0F) << 8 | Int(packet[7])
        var section = Array(packet[5..<8 + length - 4])
        try #require(packet[4] == 0 && section[11] < 200 && section.count < 160)
        section.insert(contentsOf: [9, 4, 0x0B, 0, 0xE1, 0x23], at: 12)
        section[11] += 6
        section[2] += 6
        var sum: UInt32 = .max
        for byte in section {
            sum ^= UInt32(byte) << 24
            for _ in 0..<8 { sum = sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
        }
        section += (0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * $0)) }
        packet.replaceSubrange(5..<5 + section.count, with: section)
    }

    struct Dolby: CustomTestStringConvertible, Sendable {
        let profile: UInt8
        let compatibility: UInt8
        var entry = "hvc1"
        var type = "mp4"
        let isShown: Bool

        var testDescription: String { "profile \(profile).\(compatibility) in \(type)" }
    }

    static let dolbies = [
        Dolby(profile: 5, compatibility: 0, isShown: false),
        Dolby(profile: 5, compatibility: 0, type: "mkv", isShown: false),
        Dolby(profile: 10, compatibility: 0, entry: "av01", isShown: false),
        Dolby(profile: 10, compatibility: 1, entry: "av01", isShown: true),
        Dolby(profile: 4, compatibility: 2, isShown: true), Dolby(profile: 7, compatibility: 6, isShown: true),
        Dolby(profile: 8, compatibility: 1, isShown: true), Dolby(profile: 8, compatibility: 4, isShown: true),
        Dolby(profile: 8, compatibility: 1, type: "mkv", isShown: true),
        Dolby(profile: 9, compatibility: 2, entry: "avc1", isShown: true),
    ]

    /// Profile 5 is coded in IPT, of which other decoders make green and purple.
    @Test(arguments: dolbies)
    func dolbyVisionThatOnlyItsDecodersShowIsNamed(dolby: Dolby) async throws {
        let encoders = [
            "hvc1": "libx265 -x265-params log-level=none -tag:v hvc1", "av01": "libaom-av1 -cpu-used 8",
            "avc1": "libx264",
        ]
        // The name of a track has as many bytes as its BlockAdditionMapping.
        let title = dolby.type == "mkv" ? ["-metadata:s:v", "title=\(String(repeating: "x", count: 34))"] : []
        var encoder = try #require(encoders[dolby.entry])
        if dolby.type == "mkv" { encoder = encoder.replacing(" -tag:v hvc1", with: "") }
        let scene = ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=10:d=1"]
        let words = "-pix_fmt yuv420p -c:v \(encoder)".words
        let plain = try await Videos.make(scene + words + title, as: "plain.\(dolby.type)")
        let path = try Videos.folder.write(
            Self.named(Data(file: plain), dolby),
            to: "dolby.\(dolby.type)"
        )
        guard !dolby.isShown else {
            let facts = try await Videos.frame(path, "0").facts
            #expect(facts.edges == [160, 120])
            return
        }
        let refusal = await failure { try await Videos.render([Videos.rendition("0")], of: path) }
        #expect(refusal?.code == .videoUnsupportedCodec)
        #expect(refusal?.message.contains("Dolby Vision profile \(dolby.profile)") == true)
    }

    /// The file with a configuration record of Dolby Vision: a box in the sample entry of an MP4, or an element in place of the
    /// track's name.
    private static func named(_ file: Data, _ dolby: Dolby) throws -> Data {
        var bytes = file
        // Level 1, with an RPU and a base layer.
        let record: [UInt8] =
            [1, 0, dolby.profile << 1, 0x0D, dolby.compatibility << 4] + [UInt8](repeating: 0, count: 19)
        let name = Array((dolby.profile > 7 ? "dvvC" : "dvcC").utf8)
        if dolby.type == "mkv" {
            let old = try #require(bytes.range(of: Data([0x53, 0x6E, 0x80 | 34])))
            let mapping: [UInt8] = [0x41, 0xE7, 0x84] + name + [0x41, 0xED, 0x80 | 24] + record
            bytes.replaceSubrange(old.lowerBound..<old.upperBound + 34, with: [0x41, 0xE4, 0x80 | 34] + mapping)
            return bytes
        }
        func start(of box: String) throws -> Int {
            try #require(bytes.range(of: Data(box.utf8), options: .backwards)).lowerBound - 4
        }
        func size(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        let entry = try start(of: dolby.entry)
        let end = entry + size(at: entry)
        for box in ["moov", "trak", "mdia", "minf", "stbl", "stsd", dolby.entry] {
            let place = try start(of: box)
            let grown = UInt32(size(at: place) + 32)
            bytes.replaceSubrange(place..<place + 4, with: withUnsafeBytes(of: grown.bigEndian, Array.init))
        }
        bytes.insert(contentsOf: [0, 0, 0, 32] + name + record, at: end)
        return bytes
    }
}
