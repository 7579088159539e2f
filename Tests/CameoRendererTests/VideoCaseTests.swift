import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Videos as phones, browsers and editors write them.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct VideoCaseTests {
    private static let h264 = "-c:v libx264 -pix_fmt yuv420p -sc_threshold 0"

    private func make(_ options: String, of path: String..., as name: String) async throws -> String {
        let words = options.words
        return try await Videos.make(path.flatMap { ["-i", $0] } + words, as: name)
    }

    /// Its brand is that of AVIF, but it has no item.
    @Test func anAnimationWithoutAStillPictureShowsItsFirstFrame() async throws {
        let options = "-cpu-used 8 -brand avis -movflags faststart -f mp4"
        let path = try await Videos.clip("libaom-av1", options, as: "film.avif")
        let (pixels, facts) = try await Videos.frame(path)
        #expect(Videos.second(pixels) == 0)
        #expect(facts.video?.codec == .av1 && facts.video?.time == 0)
        let failure = await failure { try await Videos.pools.renderer.render(Videos.rendition("auto"), of: path) }
        #expect(failure?.code == .imageUnsupportedFormat)
        #expect(failure?.message.contains("animation (AV1)") == true, "\(String(describing: failure))")
    }

    /// The keyframe of what is cut off is decoded, but not shown.
    @Test(arguments: ["0", "auto", "50%"])
    func aCutByAnEditListShowsWhatPlayersShow(time: String) async throws {
        let whole = try await Videos.counter("\(Self.h264) -g 1000", as: "whole.mp4")
        let cut = ["-ss", "2.3", "-i", whole, "-t", "2", "-c", "copy"]
        let path = try await Videos.make(cut, as: "cut.mp4")
        let number = Videos.number(try await Videos.frame(path, time).pixels)
        #expect((23...43).contains(number), "\(number)")
    }

    @Test(arguments: ["refreshed.mp4", "refreshed.mkv", "refreshed.ts"])
    func aStreamWithoutKeyframesIsDecodedOn(name: String) async throws {
        let options = "\(Self.h264) -bf 0 -x264-params intra-refresh=1:keyint=10"
        let path = try await Videos.counter(options, as: name)
        #expect(abs(Videos.number(try await Videos.frame(path, "3").pixels) - 30) <= 10)
        let tiles = try await Videos.tiles(1, 3, of: path)
        let numbers = Videos.numbers(tiles)
        #expect(numbers[0] < numbers[1] && numbers[1] < numbers[2], "\(numbers)")
    }

    @Test(arguments: [("50%", 3), ("100%", 5)])
    func aShareOfAnUnknownDurationIsFound(time: String, second: Int) async throws {
        let path = try await Videos.clip("libvpx", "-deadline realtime -b:v 1M -live 1", as: "live.webm")
        let (pixels, facts) = try await Videos.frame(path, time)
        #expect(Videos.second(pixels) == second)
        #expect(abs((facts.video?.duration ?? 0) - 6) < 0.2)
    }

    @Test(arguments: ["two.mp4", "two.mkv"])
    func theDefaultTrackIsShown(name: String) async throws {
        let clip = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        let small = try await make("-vf scale=32:32 -t 1 \(Self.h264)", of: clip, as: "small.mp4")
        let order = "-map 0 -map 1 -c copy -disposition:v:0 0 -disposition:v:1 default"
        let path = try await make(order, of: small, clip, as: name)
        let facts = try await Videos.frame(path).facts
        #expect(facts.edges == [160, 120])
    }

    @Test(arguments: [
        ("alpha.webm", "-c:v libvpx-vp9 -auto-alt-ref 0 -pix_fmt yuva420p"),
        ("alpha8.webm", "-c:v libvpx -auto-alt-ref 0 -b:v 1M -pix_fmt yuva420p"),
        ("alpha.mov", "-c:v prores_ks -profile:v 4444 -pix_fmt yuva444p10le"),
    ])
    func transparencyIsKeptOrLiesOnTheBackground(name: String, options: String) async throws {
        let red = "color=0xff0000@0.5:s=64x64:r=10:d=0.5,format=yuva444p"
        let words = options.words
        let path = try await Videos.make(["-f", "lavfi", "-i", red] + words, as: name)
        var shown = Videos.rendition("0")
        shown.background = .white
        let made = try await Videos.render([Videos.rendition("0"), shown], of: path).renditions
        for (rendition, pixel) in zip(made, [[255, 0, 0, 128], [255, 127, 127]]) {
            let found = try await PixelGrid(of: rendition)[32, 32]
            #expect(found.count == pixel.count && zip(found, pixel).allSatisfy { abs($0 - $1) < 8 }, "\(found)")
        }
    }

    /// Of a stream that names none, as remuxed HDR is.
    @Test(arguments: [("libx265", "mp4"), ("libx265", "mkv"), ("libaom-av1", "mp4")])
    func colorsThatOnlyTheContainerNamesCount(encoder: String, type: String) async throws {
        let isHEVC = encoder == "libx265"
        let deep = "-pix_fmt yuv420p10le " + (isHEVC ? "-x265-params log-level=none" : "-cpu-used 8")
        let more = isHEVC ? ":colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc" : ""
        let bare = try await Videos.clip(encoder, deep, as: "bare.\(type)")
        let names = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc"
        let named = try await make("-c copy \(names)", of: bare, as: "named.\(type)")
        // As frames say it, because options have no effect on those of a filter since FFmpeg 7.
        let told = "-vf setparams=color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc"
        let coded = try await make("\(told) -c:v \(encoder) \(deep)\(more)", of: bare, as: "coded.\(type)")
        let (one, other) = (try await Videos.frame(named, "0").pixels, try await Videos.frame(coded, "0").pixels)
        #expect(zip(one[80, 30], other[80, 30]).allSatisfy { abs($0 - $1) < 4 }, "\(one[80, 30]) \(other[80, 30])")
    }

    /// Sound that begins three seconds before the picture: players show nothing until then.
    @Test(arguments: ["late.mp4", "late.mkv", "late.ts", "fragments.mp4"])
    func momentsAreCountedFromTheBeginningOfTheFile(name: String) async throws {
        let numbered = try await Videos.counter("\(Self.h264) -g 10", as: "numbered.mp4")
        let tone = ["-f", "lavfi", "-i", "sine=d=6", "-c:a", "aac"]
        let sound = try await Videos.make(tone, as: "sound.m4a")
        let fragments = name.hasPrefix("fragments") ? ["-movflags", "+frag_keyframe+delay_moov"] : []
        let both = ["-itsoffset", "3", "-i", numbered, "-i", sound, "-map", "0:v", "-map", "1:a", "-c", "copy"]
        let path = try await Videos.make(both + fragments, as: name)
        let (pixels, facts) = try await Videos.frame(path, "5", accurate: true)
        #expect((19...20).contains(Videos.number(pixels)), "\(Videos.number(pixels))")
        #expect(abs((facts.video?.time ?? 0) - 5) < 0.11)
        // The header of fragments tells the duration of the first of them.
        if fragments.isEmpty {
            #expect(abs((facts.video?.duration ?? 0) - 9) < 0.2)
            #expect((14...15).contains(Videos.number(try await Videos.frame(path, "50%", accurate: true).pixels)))
        }
        #expect(Videos.number(try await Videos.frame(path, "1", accurate: true).pixels) == 0)
        let tiles = try await Videos.tiles(1, 3, of: path)
        // The middles of three spans of three seconds: before the picture, and 1.5 and 4.5 seconds into it. The nearest
        // keyframe may be shown.
        let numbers = Videos.numbers(tiles)
        #expect(numbers[0] == 0 && (10...20).contains(numbers[1]) && (40...50).contains(numbers[2]), "\(numbers)")
    }

    @Test(arguments: ["still.mp4", "still.mkv"])
    func aStillWithSoundLastsAsLongAsTheSound(name: String) async throws {
        let inputs = ["-f", "lavfi", "-i", "color=red:s=64x64:r=10:d=0.1", "-f", "lavfi", "-i", "sine=d=12"]
        let options = "\(Self.h264) -c:a aac".words
        let path = try await Videos.make(inputs + options, as: name)
        for time in ["auto", "50%", "100%"] {
            let facts = try await Videos.frame(path, time).facts
            #expect(abs((facts.video?.duration ?? 0) - 12) < 0.2)
        }
        let tiles = try await Videos.tiles(2, 1, of: path, each: PixelSize(64, 64))
        #expect([32, 96].allSatisfy { tiles[$0, 32][0] > 200 })
    }

    /// As a broadcast's pictures between advertisements do.
    @Test(arguments: ["-vf scale=120:160", "-vf scale=160:60"])
    func tilesKeepTheShapeOfTheirFrame(change: String) async throws {
        let clip = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "first.ts")
        let later = "\(change),setsar=1 \(Self.h264) -g 10 -output_ts_offset 6"
        let other = try await make(later, of: clip, as: "other.ts")
        let bytes = try Data(file: clip) + Data(file: other)
        let path = try Videos.folder.write(bytes, to: "both.ts")
        let tiles = try await Videos.tiles(2, 1, of: path, each: PixelSize(160, 120))
        // The first tile is full. In the second, the edges that the frame does not reach are black.
        #expect(tiles[2, 2].contains { $0 > 100 } && tiles[80, 30].contains { $0 > 100 })
        #expect(tiles[162, 2].allSatisfy { $0 < 10 } && tiles[240, 35].contains { $0 > 100 })
    }

    @Test(arguments: [70, 1_000])
    func aStreamBehindOtherBytesIsAVideo(count: Int) async throws {
        let clip = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.ts")
        let bytes = try Data(file: clip)
        let path = try Videos.folder.write(Data(repeating: 0x20, count: count) + bytes, to: "behind")
        let (pixels, facts) = try await Videos.frame(path, "3.5", accurate: true)
        #expect(facts.format == .video && Videos.second(pixels) == 3)
    }

    @Test func anEncryptedVideoIsNotDamaged() async throws {
        let clip = try await Videos.clip("libx264", "-pix_fmt yuv420p", as: "clip.mp4")
        let key = String(repeating: "76", count: 16)
        let scheme = "-encryption_scheme cenc-aes-ctr -encryption_key \(key) -encryption_kid \(key)"
        let path = try await make("-c copy \(scheme)", of: clip, as: "encrypted.mp4")
        let refusal = await failure { try await Videos.render([Videos.rendition("1")], of: path) }
        #expect(refusal?.code == .videoEncrypted)
        #expect(refusal?.message.contains("h264") == true)
    }

    /// AVI has only the times when packets are decoded. A group may be open: frames behind its keyframe are shown before.
    @Test(arguments: [
        "libx264 -bf 2 -sc_threshold 0", "libx264 -bf 3 -sc_threshold 0 -x264-params open-gop=1", "mpeg4 -q:v 3 -bf 2",
        "mpeg2video -q:v 3 -bf 2 -r 25",
    ])
    func theMomentOfAKeyframeInAVIIsKnown(encoder: String) async throws {
        let path = try await Videos.counter("-pix_fmt yuv420p -g 10 -c:v \(encoder)", as: "clip.avi")
        for time in ["0", "auto", "1.2", "3", "5"] {
            let (pixels, facts) = try await Videos.frame(path, time)
            let shown = try #require(facts.video?.time, "\(time)")
            // A frame of the counter lasts a tenth of a second.
            #expect(Int(shown * 10 + 0.001) == Videos.number(pixels), "\(time): \(shown)")
        }
    }

    @Test(arguments: ["cut.ts", "cut.mkv"])
    func behindTheCutOfATruncatedVideoIsTheLastFrame(name: String) async throws {
        let whole = try await Videos.counter("\(Self.h264) -g 10", as: "whole-\(name)")
        let bytes = try Data(file: whole)
        let path = try Videos.folder.write(bytes.prefix(bytes.count / 2), to: name)
        for time in ["5", "999"] {
            let number = Videos.number(try await Videos.frame(path, time).pixels)
            #expect((10...40).contains(number), "\(time): \(number)")
        }
    }

    /// A unit of its time is two seconds: the search for an earlier keyframe did not move.
    @Test func aSlowFilmHasExactFrames() async throws {
        let options = "-vf setpts=20*PTS -r 0.5 -c:v mpeg4 -q:v 2 -g 12 -bf 2"
        let path = try await Videos.counter(options, as: "slow.avi")
        for (time, number) in [("0", 0), ("20", 10), ("61", 30), ("100%", 59)] {
            let pixels = try await Videos.frame(path, time, accurate: true).pixels
            #expect(Videos.number(pixels) == number, "\(time)")
        }
    }
}
