import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// MP4 whose edit list (ISO/IEC 14496-12, 8.6.6) says what of the media is shown, and when: what it leaves out is never
/// shown.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct VideoEditTests {
    private static let h264 = "-c:v libx264 -pix_fmt yuv420p -sc_threshold 0 -video_track_timescale 1000"

    /// Sixty frames of 100 ms, which are shown from 200 ms of the media on if some are reordered, and from 0 otherwise.
    enum Coding: String, CaseIterable, Sendable {
        case reordered = "-bf 2 -g 10", plain = "-bf 0 -g 10", oneGroup = "-bf 2 -g 100"

        var first: Int { self == .plain ? 0 : 200 }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Media times are those of frames.
        let edits: [Boxes.Edit]
        /// The frames that are shown at 50, 150, 250 ms and so on.
        let frames: [Int]
        /// In milliseconds.
        let duration: Int
        var form = Boxes.Form.short

        init(_ name: String, _ edits: [Boxes.Edit], _ frames: [Int], _ duration: Int, _ form: Boxes.Form = .short) {
            (testDescription, self.edits, self.frames, self.duration, self.form) = (name, edits, frames, duration, form)
        }

        /// All frames that edits cover.
        var covered: Set<Int> {
            Set(
                edits.filter { $0.media >= 0 }.flatMap { edit in
                    let length = max(1, Int(Double(edit.duration == 0 ? 400 : edit.duration) * edit.rate))
                    return edit.media / 100...min(59, (edit.media + length - 1) / 100)
                }
            )
        }
    }

    private static func edit(_ duration: Int, _ media: Int, rate: Double = 1) -> Boxes.Edit {
        Boxes.Edit(duration: duration, media: media, rate: rate)
    }

    static let cases = [
        Case(
            "a gap",
            [edit(300, 1_000), edit(500, -1), edit(300, 1_400)],
            [10, 11, 12, 12, 12, 12, 12, 12, 14, 15, 16],
            1_100
        ),
        Case(
            "out of order",
            [edit(200, 3_000), edit(200, 1_000), edit(200, 3_000)],
            [30, 31, 10, 11, 30, 31],
            600,
            .long
        ),
        Case(
            "a late start and a gap",
            [edit(700, -1), edit(200, 1_500), edit(100, -1), edit(100, 4_000)],
            [15, 16, 16, 40],
            400
        ),
        Case(
            "a dwell",
            [edit(200, 1_000), edit(300, 1_700, rate: 0), edit(100, 2_000)],
            [10, 11, 17, 17, 17, 20],
            600,
            .large
        ),
        Case("from between keyframes", [edit(400, 1_300)], [13, 14, 15, 16], 400, .last),
        Case("the end cut off", [edit(300, 0)], [0, 1, 2], 300),
        Case("twice as fast", [edit(300, 1_000, rate: 2)], [11, 13, 15], 300),
        Case("to the end", [edit(0, 5_600)], [56, 57, 58, 59], 400),
        Case("longer than its media", [edit(500, 5_800)], [58, 59, 59, 59, 59], 500),
    ]

    @Test(arguments: cases, TestLength.few(Coding.allCases, 1, whole: 2))
    func onlyWhatIsInEditsIsShown(item: Case, coding: Coding) async throws {
        let whole = try await Videos.counter("\(Self.h264) \(coding.rawValue)", as: "whole.mp4")
        let edits = item.edits.map {
            Self.edit($0.duration, $0.media < 0 ? -1 : $0.media + coding.first, rate: $0.rate)
        }
        let bytes = Boxes.edited(try Data(file: whole), edits, item.form)
        let path = try Videos.folder.write(bytes, to: "edited.mp4")
        var shown: [Int] = []
        for index in item.frames.indices {
            let time = String(Double(index) / 10 + 0.05)
            shown.append(Videos.number(try await Videos.frame(path, time, accurate: true).pixels))
            let near = Videos.number(try await Videos.frame(path, time).pixels)
            #expect(item.covered.contains(near), "\(near) at \(time)")
        }
        #expect(shown == item.frames)
        for time in ["auto", "0%", "50%", "100%", "99"] {
            let (pixels, facts) = try await Videos.frame(path, time)
            let number = Videos.number(pixels)
            #expect(item.covered.contains(number), "\(number) at \(time)")
            #expect(abs((facts.video?.duration ?? 0) - Double(item.duration) / 1_000) < 0.005)
            #expect((0...Double(item.duration) / 1_000).contains(facts.video?.time ?? -1))
        }
        let tiles = try await Videos.tiles(1, 4, of: path)
        let numbers = Videos.numbers(tiles)
        #expect(numbers.allSatisfy(item.covered.contains), "\(numbers)")
        #expect(item.frames != item.frames.sorted() || numbers == numbers.sorted(), "\(numbers)")
    }

    /// As a lecture's slides are: each is one frame of ten seconds.
    @Test(arguments: ["0", "1.5", "auto", "100%"])
    func anEditInOneLongFrameShowsIt(time: String) async throws {
        let options = "-vf setpts=N*10/TB -vsync 0 -enc_time_base 1/1000 \(Self.h264) -bf 0 -g 1"
        let slides = try await Videos.counter(frames: 4, options, as: "slides.mp4")
        let edits = [Self.edit(3_000, 24_000)]
        let path = try Videos.folder.write(Boxes.edited(Data(file: slides), edits), to: "one.mp4")
        for isAccurate in time == "auto" ? [false] : [false, true] {
            let (pixels, facts) = try await Videos.frame(path, time, accurate: isAccurate)
            #expect(Videos.number(pixels) == 2)
            #expect(facts.video?.duration == 3 && facts.video?.time == 0)
        }
    }

    /// Dim frames, of which those of the second edit show the most.
    @Test func theMomentIsThatOfTheEditOfTheFrame() async throws {
        let dim = "-vf lutyuv=y=16+val/8,lutyuv=y=val*2-16:enable='between(n,40,49)'"
        let whole = try await Videos.counter("\(dim) \(Self.h264) -bf 0 -g 10", as: "whole.mp4")
        let edits = [Self.edit(2_000, 1_000), Self.edit(1_000, 4_000)]
        let path = try Videos.folder.write(Boxes.edited(Data(file: whole), edits), to: "edited.mp4")
        let time = try #require(try await Videos.frame(path).facts.video?.time)
        #expect(time >= 2)
    }

    /// A fade from black that has one keyframe, and is cut off before its end.
    @Test func autoShowsWhatAnEditCoversBetweenKeyframes() async throws {
        let fade = "-f lavfi -i testsrc2=s=160x120:r=10:d=4 -vf fade=in:st=1:d=2 \(Self.h264) -bf 2 -g 100"
        let words = fade.words
        let whole = try await Videos.make(words, as: "whole.mp4")
        let edits = [Self.edit(2_500, 200)]
        let path = try Videos.folder.write(Boxes.edited(Data(file: whole), edits), to: "edited.mp4")
        let (pixels, facts) = try await Videos.frame(path)
        let lightest = pixels.places.map { pixels[$0.x, $0.y].max() ?? 0 }.max() ?? 0
        #expect(lightest > 120)
        #expect((1..<2.5).contains(facts.video?.time ?? -1))
    }

    /// The list is at the beginning, and goes on to the end (segment_duration 0); what it leaves out is in a fragment. Some
    /// have an empty table of when frames are shown at the beginning.
    @Test(arguments: [false, true])
    func fragmentsAreCutByTheListOfTheBeginning(hasTable: Bool) async throws {
        let whole = try await Videos.counter("\(Self.h264) -bf 2 -g 10", as: "whole.mp4")
        let flags = "+frag_keyframe+delay_moov+default_base_moof"
        let cut = try await Videos.make(["-ss", "2.3", "-i", whole, "-c", "copy", "-movflags", flags], as: "cut.mp4")
        let bytes = try Data(file: cut)
        let tables = ["moov", "trak", "mdia", "minf", "stbl"]
        let tabled = Boxes.changed(bytes, tables) { $0 + Boxes.box("ctts", Data(count: 8)) }
        let path = try Videos.folder.write(hasTable ? tabled : bytes, to: "fragments.mp4")
        #expect(Videos.number(try await Videos.frame(path, "0", accurate: true).pixels) == 23)
        #expect(Videos.number(try await Videos.frame(path, "1", accurate: true).pixels) == 33)
        #expect(Videos.number(try await Videos.frame(path, "99", accurate: true).pixels) == 59)
        let tiles = try await Videos.tiles(1, 4, of: path)
        let numbers = Videos.numbers(tiles)
        #expect(numbers.allSatisfy { $0 >= 23 } && numbers == numbers.sorted(), "\(numbers)")
    }

    /// Numbers that would overflow, a list longer than its box, and a second list of another form.
    @Test(arguments: [
        [edit(Int(UInt32.max), 0), edit(Int(UInt32.max), 1_000)], [edit(300, Int(Int32.max))],
        [edit(300, 1_000, rate: -1), edit(300, 1_000, rate: 32_767)], [edit(1_000, -1)], [],
    ])
    func aForgedListIsNoFault(edits: [Boxes.Edit]) async throws {
        let whole = try await Videos.counter("\(Self.h264) -bf 2 -g 10", as: "whole.mp4")
        let movie = try Data(file: whole)
        for (index, form) in [Boxes.Form.short, .long].enumerated() {
            let listed = Boxes.edited(movie, edits, form)
            let long = Boxes.changed(listed, ["moov", "trak", "edts", "elst"]) {
                $0.prefix(4) + Boxes.number(-1, 4) + $0.dropFirst(8)
            }
            let other = Boxes.list(edits + edits, form == .long ? .short : .long)
            let twice = Boxes.changed(listed, ["moov", "trak", "edts"]) { $0 + other }
            for (name, bytes) in [("listed", listed), ("long", long), ("twice", twice)] {
                let path = try Videos.folder.write(bytes, to: "\(name)-\(index).mp4")
                for time in ["auto", "1", "50%"] {
                    do {
                        _ = try await Videos.frame(path, time)
                    } catch let failure as JobFailure {
                        #expect(failure.code == .imageCorrupt, "\(name), \(time): \(failure)")
                    }
                }
            }
        }
    }
}
