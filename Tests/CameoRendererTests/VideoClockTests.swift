import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Transport streams whose clock jumps: time is counted by what there is.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct VideoClockTests {
    private static let h264 = "-c:v libx264 -pix_fmt yuv420p -sc_threshold 0 -bf 2"

    /// A recording of 20 s whose first frame is shown at a time of its clock.
    private func recording(from time: Double, group: Int = 10, sound: Bool = false) async throws -> Data {
        let name = "\(time)-\(sound).ts"
        let options = "\(Self.h264) -g \(group) -output_ts_offset \(time) -muxdelay 0"
        let inputs = sound ? "-f lavfi -i sine=d=20 -c:a aac " : ""
        return try Data(
            contentsOf: URL(filePath: await Videos.counter(frames: 200, inputs + options, as: name))
        )
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let times: [Double]
        /// The bytes of a packet in the file.
        var stride = 188
    }

    static let cases = [
        Case(testDescription: "hours ahead", times: [0, 87_533]),
        Case(testDescription: "back", times: [7_000, 10]),
        Case(testDescription: "the same again", times: [10, 10]),
        Case(testDescription: "within the first", times: [0, 15]),
        Case(testDescription: "a gap", times: [0, 40]),
        Case(testDescription: "three jumps", times: [100, 87_533, 20, 4_000]),
        Case(testDescription: "and 33 bits are full", times: [10, 95_433.7]),
        Case(testDescription: "of a disc", times: [0, 5_000], stride: 192),
        Case(testDescription: "with checksums", times: [5_000, 0], stride: 204),
    ]

    @Test(arguments: TestLength.few(cases, 3))
    func momentsAreCountedFromJumpToJump(item: Case) async throws {
        var whole = Data()
        for time in item.times { whole += try await recording(from: time) }
        let padding = Data(repeating: 0, count: item.stride - 188)
        let packets = stride(from: 0, to: whole.count, by: 188).map { whole[$0..<min($0 + 188, whole.count)] }
        // A time stamp stands before a packet, a checksum behind.
        let bytes = packets.reduce(into: Data()) { $0 += item.stride == 192 ? padding + $1 : $1 + padding }
        let path = try Videos.folder.write(bytes, to: "whole.ts")
        let seconds = 20 * item.times.count
        for tenth in stride(from: 7, to: seconds * 10, by: 53) {
            let (pixels, facts) = try await Videos.frame(path, String(Double(tenth) / 10 + 0.05), accurate: true)
            #expect(Videos.number(pixels) == tenth % 200, "at \(tenth)")
            #expect(abs((facts.video?.time ?? -1) - Double(tenth) / 10) < 0.06)
            #expect(abs((facts.video?.duration ?? 0) - Double(seconds)) < 0.2)
        }
        let middle = try await Videos.frame(path, "50%").facts
        #expect(abs((middle.video?.time ?? -1) - Double(seconds) / 2) <= 1.1)
        #expect(Videos.number(try await Videos.frame(path, "100%", accurate: true).pixels) == 199)
        let tiles = try await Videos.tiles(1, 8, of: path)
        for index in 0..<8 {
            let expected = (index * 2 + 1) * seconds * 10 / 16
            let number = Videos.number(tiles, top: index * 48)
            // The next keyframe, which may be that of the next recording.
            #expect((expected...expected + 11).contains { $0 % 200 == number }, "\(number) for \(expected)")
        }
    }

    /// A cut recording ends and another begins between keyframes.
    @Test func aJumpWithinAGroupIsCountedToo() async throws {
        let (one, other) = (try await recording(from: 0, group: 50), try await recording(from: 3_000, group: 50))
        let bytes = one.prefix(one.count / 188 / 2 * 188) + other.dropFirst(other.count / 188 / 20 * 188)
        let path = try Videos.folder.write(Data(bytes), to: "both.ts")
        let duration = try #require(try await Videos.frame(path, "0").facts.video?.duration)
        #expect((25.0...33).contains(duration), "\(duration)")
        let (pixels, facts) = try await Videos.frame(path, String(duration - 4.05), accurate: true)
        #expect((158...160).contains(Videos.number(pixels)), "\(Videos.number(pixels))")
        #expect(abs((facts.video?.time ?? -1) - (duration - 4.05)) < 0.11)
    }

    /// From the middle on, the times of one stream are later, or earlier.
    @Test(arguments: [(257, 80_000), (257, -90), (256, 3_600)])
    func aClockMayJumpInOneStreamAlone(id: Int, seconds: Int) async throws {
        var bytes = [UInt8](try await recording(from: 100, sound: true))
        let shift = seconds * 90_000
        for packet in stride(from: bytes.count / 188 / 2 * 188, to: bytes.count, by: 188) {
            let isStart = bytes[packet + 1] & 0x40 != 0
            guard isStart, Int(bytes[packet + 1] & 0x1F) << 8 | Int(bytes[packet + 2]) == id else { continue }
            let start = packet + 4 + (bytes[packet + 3] & 0x20 != 0 ? 1 + Int(bytes[packet + 4]) : 0)
            for (at, flag) in [(start + 9, UInt8(0x80)), (start + 14, 0x40)] where bytes[start + 7] & flag != 0 {
                let high = Int(bytes[at] >> 1 & 7) << 30 | Int(bytes[at + 1]) << 22 | Int(bytes[at + 2] >> 1) << 15
                let time = (high | Int(bytes[at + 3]) << 7 | Int(bytes[at + 4] >> 1)) + shift
                bytes[at] = bytes[at] & 0xF1 | UInt8(time >> 30 & 7) << 1
                bytes[at + 1] = UInt8(time >> 22 & 255)
                bytes[at + 2] = UInt8(time >> 15 & 127) << 1 | 1
                bytes[at + 3] = UInt8(time >> 7 & 255)
                bytes[at + 4] = UInt8(time & 127) << 1 | 1
            }
        }
        let path = try Videos.folder.write(Data(bytes), to: "one.ts")
        for (time, number) in [("5.05", 50), ("14.05", 140), ("19.95", 199)] {
            let (pixels, facts) = try await Videos.frame(path, time, accurate: true)
            #expect(abs(Videos.number(pixels) - number) <= 1, "\(Videos.number(pixels)) at \(time)")
            #expect(abs((facts.video?.duration ?? 0) - 20) < 0.2)
        }
    }
}
