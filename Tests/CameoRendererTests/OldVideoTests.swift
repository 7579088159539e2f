import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Containers and codecs of older days, and files that begin in unusual ways.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct OldVideoTests {
    static let kinds = [
        Videos.Kind(file: "flash.flv", options: "-c:v flv -q:v 2 -g 10"),
        Videos.Kind(file: "sound.flv", options: "-f lavfi -i sine=d=6 -c:v flv -q:v 2 -g 10 -c:a libmp3lame -ar 44100"),
        Videos.Kind(file: "h264.flv", options: "-c:v libx264 -pix_fmt yuv420p -sc_threshold 0 -g 10 -bf 2"),
        Videos.Kind(file: "media.wmv", options: "-f lavfi -i sine=d=6 -c:v wmv2 -q:v 2 -g 10 -c:a wmav2"),
        Videos.Kind(file: "media7.asf", options: "-c:v wmv1 -q:v 2 -g 10"),
        Videos.Kind(file: "divx3.avi", options: "-c:v msmpeg4 -q:v 2 -g 10"),
        Videos.Kind(file: "h263.avi", options: "-c:v h263p -q:v 2 -g 10"),
        Videos.Kind(file: "dvd.vob", options: "-f lavfi -i sine=d=6 -c:v mpeg2video -q:v 2 -r 30 -g 30 -bf 2 -c:a ac3"),
        Videos.Kind(file: "cd.mpg", options: "-c:v mpeg1video -q:v 2 -r 30 -g 30"),
        Videos.Kind(file: "theora.ogv", options: "-f lavfi -i sine=d=6 -c:v libtheora -q:v 9 -g 10 -c:a libvorbis"),
    ]

    /// A keyframe a second, on the second.
    @Test(arguments: TestLength.few(kinds, whole: 5))
    func theNearestKeyframeIsShownAndTilesAreInOrder(kind: Videos.Kind) async throws {
        let path = try await Videos.counter(kind.options, as: kind.file)
        for (time, number) in [("0", 0), ("1.1", 10), ("2.9", 30), ("4.2", 40), ("auto", 10)] {
            let (pixels, facts) = try await Videos.frame(path, time)
            // The default goes by the duration, which may be a little too long or too short.
            let found = Videos.number(pixels)
            #expect(time == "auto" ? found == 0 || found == 10 : found == number, "\(time): \(found)")
            #expect(facts.edges == [160, 48] && facts.video?.time != nil)
            #expect(abs((facts.video?.time ?? 0) - Double(found) / 10) < 0.15)
            #expect(abs((facts.video?.duration ?? 0) - 6) < 1)
        }
        for (time, number) in [("0.25", 2), ("3.15", 31), ("5.75", 57)] {
            let found = Videos.number(try await Videos.frame(path, time, accurate: true).pixels)
            // Sound may begin a little before the picture.
            #expect((number - 1...number).contains(found), "\(time): \(found)")
        }
        let tiles = try await Videos.tiles(1, 6, of: path)
        let numbers = Videos.numbers(tiles)
        #expect(zip(numbers, 0...).allSatisfy { (($1 - 1) * 10...($1 + 1) * 10).contains($0) }, "\(numbers)")
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 <= $1 }, "\(numbers)")
    }

    @Test(arguments: [
        ("camera.3gp", "h263", VideoFacts.Codec.h263), ("tape.mov", "dvvideo", .dv), ("tape.avi", "dvvideo", .dv),
    ])
    func codecsOfFixedSizesAreDecoded(name: String, encoder: String, codec: VideoFacts.Codec) async throws {
        let scale = codec == .dv ? "scale=720:576" : "scale=176:144"
        let options = ["-vf", "\(scale),setsar=1", "-c:v", encoder, "-r", codec == .dv ? "25" : "30000/1001"]
        let dv = codec == .dv ? ["-pix_fmt", "yuv420p"] : ["-g", "30"]
        let clip = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        let path = try await Videos.make(["-i", clip] + options + dv, as: name)
        for (time, second) in [("0", 0), ("2.5", 2), ("4.5", 4)] {
            let (pixels, facts) = try await Videos.frame(path, time, accurate: true)
            #expect(Videos.second(pixels) == second, "\(time): \(pixels[80, 30])")
            #expect(facts.video?.codec == codec)
        }
    }

    @Test(arguments: ["nine.wmv", "nine.avi", "nine.mkv"])
    func windowsMedia9IsDecoded(name: String) async throws {
        let path = try await Videos.windowsMedia9(frames: 30, as: name)
        for (time, number) in [("0", 0), ("0.7", 7), ("2.05", 20), ("1000", 29)] {
            let (pixels, facts) = try await Videos.frame(path, time, accurate: true)
            #expect(Videos.number(pixels) == number, "\(time)")
            #expect(facts.video?.codec == .wmv3 && facts.edges == [160, 48])
        }
    }

    /// Old cameras put a preview first, others a box of their own; fragments count their places from themselves.
    @Test(arguments: ["pnot", "uuid", "udta", "prft", "wide"])
    func aFilmBehindAnotherBoxIsAVideo(box: String) async throws {
        let options = "-pix_fmt yuv420p -movflags frag_keyframe+empty_moov+default_base_moof"
        let clip = try await Videos.clip("libx264", options, as: "clip.mov")
        let content = [UInt8](repeating: 0, count: 32)
        let bytes = Data([0, 0, 0, 40] + Array(box.utf8) + content) + (try Data(file: clip))
        let path = try Videos.folder.write(bytes, to: "behind")
        let (pixels, facts) = try await Videos.frame(path, "3", accurate: true)
        #expect(facts.format == .video && Videos.second(pixels) == 3)
    }

    /// As broadcasts that were recorded with their error correction.
    @Test(arguments: [0, 100])
    func packetsWithErrorCorrectionAreRead(skipped: Int) async throws {
        let clip = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.ts")
        let packets = [UInt8](try Data(file: clip))
        let long = stride(from: 0, to: packets.count, by: 188).flatMap {
            packets[$0..<$0 + 188] + [UInt8](repeating: 0xEE, count: 16)
        }
        let path = try Videos.folder.write(Data(long.dropFirst(skipped)), to: "long.ts")
        let (pixels, facts) = try await Videos.frame(path, "3.5", accurate: true)
        #expect(facts.format == .video && Videos.second(pixels) == 3)
    }
}
