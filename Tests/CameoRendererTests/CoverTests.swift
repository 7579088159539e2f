import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Which of several pictures of a file is its cover.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct CoverTests {
    /// A picture of a file: the type of ID3v2, what the file says it is, and its square of one colour.
    struct Picture: Sendable {
        let type: UInt8
        var mediaType = "image/jpeg"
        var ending = "jpg"
        let color: String
        let edge: Int
    }

    static let (back, front) = (Picture(type: 4, color: "red", edge: 96), Picture(type: 3, color: "green", edge: 48))
    static let icon = Picture(type: 1, mediaType: "image/png", ending: "png", color: "blue", edge: 32)

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let pictures: [Picture]
        /// Of the picture that is shown; nil if none is.
        let edge: Int?
        let cover: VideoFacts.Cover?
    }

    static let cases = [
        Case(testDescription: "the back before the front", pictures: [back, front], edge: 48, cover: .front),
        Case(
            testDescription: "icon, artist, other",
            pictures: [icon, Picture(type: 8, color: "red", edge: 96), Picture(type: 0, color: "white", edge: 40)],
            edge: 40,
            cover: .other
        ),
        Case(
            testDescription: "a small artist before a large back, and another icon",
            pictures: [Picture(type: 2, color: "blue", edge: 128), Picture(type: 8, color: "gray", edge: 56), back],
            edge: 96,
            cover: .additional
        ),
        Case(testDescription: "only an icon", pictures: [icon], edge: 32, cover: .icon),
        Case(
            testDescription: "two front covers",
            pictures: [back, front, Picture(type: 3, color: "gray", edge: 64)],
            edge: 48,
            cover: .front
        ),
        Case(
            testDescription: "a front cover elsewhere",
            pictures: [Picture(type: 3, mediaType: "-->", color: "green", edge: 48), back],
            edge: 96,
            cover: .additional
        ),
        Case(
            testDescription: "only a link",
            pictures: [Picture(type: 3, mediaType: "-->", color: "green", edge: 48)],
            edge: nil,
            cover: nil
        ),
        Case(
            testDescription: "a JPEG that is called PNG",
            pictures: [back, Picture(type: 3, mediaType: "image/png", color: "green", edge: 48)],
            edge: 48,
            cover: .front
        ),
        Case(
            testDescription: "a GIF",
            pictures: [back, Picture(type: 3, mediaType: "image/gif", ending: "gif", color: "green", edge: 48)],
            edge: 48,
            cover: .front
        ),
    ]

    @Test(arguments: cases, ["mp3", "wav", "aiff", "flac", "ogg", "opus", "wma"])
    func theFrontCoverIsShownBeforeOthers(one: Case, ending: String) async throws {
        let path = try await file(ending, with: one.pictures)
        guard let edge = one.edge else {
            let failure = await failure { try await Videos.render([Videos.rendition("auto")], of: path) }
            #expect(failure?.code == .videoNoPicture, "\(String(describing: failure))")
            return
        }
        for time in ["auto", "cover"] {
            let facts = try await Videos.frame(path, time).facts
            #expect(facts.edges == [edge, edge])
            #expect(facts.video?.cover == one.cover && facts.video?.hasAudio == true && facts.video?.time == nil)
        }
    }

    /// RFC 9559, section 21.2.
    @Test(arguments: [
        (["back.jpg", "Cover.jpg", "small_cover.png"], 2, VideoFacts.Cover.front),
        (["back.jpg", "small_cover.png"], 2, .other), (["small_cover.png", "cover_land.jpg", "cover.png"], 3, .front),
        (["disc.png", "cover_land.jpg", "artist.png"], 3, .additional),
    ])
    func theCoverOfMatroskaIsKnownByItsName(names: [String], shown: Int, cover: VideoFacts.Cover) async throws {
        var options = ["-f", "lavfi", "-i", "sine=d=1"]
        for (index, name) in names.enumerated() {
            let edge = 32 * (index + 1)
            let type = name.hasSuffix("png") ? "image/png" : "image/jpeg"
            let source = ["-f", "lavfi", "-i", "color=red:s=\(edge)x\(edge)", "-frames:v", "1"]
            options += ["-attach", try await Videos.make(source, as: name)]
            options += ["-metadata:s:t:\(index)", "mimetype=\(type)"]
        }
        let path = try await Videos.make(options, as: "album.mka")
        let facts = try await Videos.frame(path).facts
        #expect(facts.edges == [32 * shown, 32 * shown] && facts.video?.cover == cover)
    }

    /// Of `covr`, the first is the front.
    @Test func theFirstCoverOfMP4IsShown() async throws {
        let squares = ["color=red:s=48x48:d=0.1", "color=green:s=96x96:d=0.1"].flatMap { ["-f", "lavfi", "-i", $0] }
        let maps = ["-map", "2", "-map", "0", "-map", "1", "-frames:v", "1", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p"]
        let path = try await Videos.make(
            squares + ["-f", "lavfi", "-i", "sine=d=1"] + maps + ["-disposition:v", "attached_pic"],
            as: "album.m4a"
        )
        let facts = try await Videos.frame(path).facts
        #expect(facts.edges == [48, 48] && facts.video?.cover == .front)
    }

    @Test func aFrameIsNoCover() async throws {
        let path = try await Videos.clip("libx264", as: "clip.mp4")
        let facts = try await Videos.frame(path).facts
        #expect(facts.video?.cover == nil && facts.video?.codec == .h264)
    }
}

// MARK: - Files with pictures

extension CoverTests {
    private func bytes(of picture: Picture) async throws -> [UInt8] {
        if picture.mediaType == "-->" { return Array("http://127.0.0.1:9/cover.jpg".utf8) }
        let source = [
            "-f", "lavfi", "-i", "color=\(picture.color):s=\(picture.edge)x\(picture.edge)", "-frames:v", "1",
        ]
        let path = try await Videos.make(source, as: "\(picture.color)\(picture.edge).\(picture.ending)")
        return [UInt8](try Data(file: path))
    }

    /// A second of sound with pictures.
    private func file(_ ending: String, with pictures: [Picture]) async throws -> String {
        var contents: [(Picture, [UInt8])] = []
        for picture in pictures { contents.append((picture, try await bytes(of: picture))) }
        let sound = ["-f", "lavfi", "-i", "sine=d=1"]
        if ending == "ogg" || ending == "opus" { return try await vorbisComments(contents, sound, ending) }
        let options = ending == "mp3" ? ["-id3v2_version", "0"] : []
        let made = try await Videos.make(sound + options, as: "bare.\(ending)")
        let bare = [UInt8](try Data(file: made))
        let bytes: [UInt8]
        switch ending {
        case "mp3": bytes = Self.id3(contents) + bare
        case "wav": bytes = Self.added("id3 ", Self.id3(contents), to: bare, \.littleEndian)
        case "aiff": bytes = Self.added("ID3 ", Self.id3(contents), to: bare, \.bigEndian)
        case "flac": bytes = Self.flac(contents, in: bare)
        default: bytes = Self.asf(contents, in: bare)
        }
        return try Videos.folder.write(Data(bytes), to: "album.\(ending)")
    }

    private static func big(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian, Array.init) }

    private static func little(_ number: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(number >> (8 * $0) & 255) }
    }

    private static func joined(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }

    /// ID3v2.3 with a frame APIC for each.
    private static func id3(_ pictures: [(Picture, [UInt8])]) -> [UInt8] {
        let frames = pictures.flatMap { picture, data in
            let content = joined([0], Array(picture.mediaType.utf8), [0, picture.type, 0], data)
            return joined(Array("APIC".utf8), big(content.count), [0, 0], content)
        }
        let size = [21, 14, 7, 0].map { UInt8(frames.count >> $0 & 127) }
        return joined(Array("ID3".utf8), [3, 0, 0], size, frames)
    }

    /// RIFF or IFF with a chunk behind the others.
    private static func added(_ name: String, _ tag: [UInt8], to file: [UInt8], _ order: KeyPath<UInt32, UInt32>)
        -> [UInt8]
    {
        func size(_ count: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(count)[keyPath: order], Array.init) }
        let padding = [UInt8](repeating: 0, count: tag.count % 2)
        var bytes = joined(file, Array(name.utf8), size(tag.count), tag, padding)
        bytes.replaceSubrange(4..<8, with: size(bytes.count - 8))
        return bytes
    }

    /// FLAC with a block behind the first one, which is the last one no longer.
    private static func flac(_ pictures: [(Picture, [UInt8])], in file: [UInt8]) -> [UInt8] {
        let blocks = pictures.flatMap { picture, data in
            let content = flacPicture(picture, data)
            return joined([6], Array(big(content.count).dropFirst()), content)
        }
        return joined(Array(file[..<4]), [file[4] & 0x7F], Array(file[5..<42]), blocks, Array(file[42...]))
    }

    /// The content of FLAC's block PICTURE (RFC 9639, section 8.8).
    private static func flacPicture(_ picture: Picture, _ data: [UInt8]) -> [UInt8] {
        let type = Array(picture.mediaType.utf8)
        let empty = [UInt8](repeating: 0, count: 20)
        return joined(big(Int(picture.type)), big(type.count), type, empty, big(data.count), data)
    }

    /// ASF with a WM/Picture for each, in an extended content description at the beginning of the header.
    private static func asf(_ pictures: [(Picture, [UInt8])], in file: [UInt8]) -> [UInt8] {
        func wide(_ text: String) -> [UInt8] { text.utf16.flatMap { little(Int($0), 2) } + [0, 0] }
        let name = wide("WM/Picture")
        let descriptors = pictures.flatMap { picture, data in
            let value = joined([picture.type], little(data.count), wide(picture.mediaType), wide(""), data)
            return joined(little(name.count, 2), name, little(1, 2), little(value.count, 2), value)
        }
        let kind: [UInt8] = [
            0x40, 0xA4, 0xD0, 0xD2, 0x07, 0xE3, 0xD2, 0x11, 0x97, 0xF0, 0, 0xA0, 0xC9, 0x5E, 0xA8, 0x50,
        ]
        let length = 26 + descriptors.count
        let object = joined(kind, little(length, 8), little(pictures.count, 2), descriptors)
        func number(_ range: Range<Int>) -> Int { file[range].reversed().reduce(0) { $0 << 8 | Int($1) } }
        let sizes = joined(little(number(16..<24) + length, 8), little(number(24..<28) + 1))
        return joined(Array(file[..<16]), sizes, Array(file[28..<30]), object, Array(file[30...]))
    }

    /// Ogg with a METADATA_BLOCK_PICTURE for each. Of several comments of one name `ffmpeg` writes the last, so they have
    /// different ones at first.
    private func vorbisComments(_ pictures: [(Picture, [UInt8])], _ sound: [String], _ ending: String) async throws
        -> String
    {
        let name = "METADATA_BLOCK_PICTURE"
        let names = ["A", "B", "C"].map { $0 + name.dropFirst() }
        var text = ";FFMETADATA1\n"
        for (other, (picture, data)) in zip(names, pictures) {
            let coded = Data(Self.flacPicture(picture, data)).base64EncodedString()
            text += "\(other)=\(coded.replacing("=", with: "\\="))\n"
        }
        let metadata = try Videos.folder.write(Data(text.utf8), to: "metadata")
        let options = sound + ["-i", metadata, "-map_metadata", "1"]
        let made = try await Videos.make(options, as: "made.\(ending)")
        var data = try Data(file: made)
        for other in names {
            if let range = data.range(of: Data(other.utf8)) { data.replaceSubrange(range, with: Data(name.utf8)) }
        }
        return try Videos.folder.write(Data(Self.sealed([UInt8](data))), to: "album.\(ending)")
    }

    /// Pages of Ogg with right checksums (RFC 3533, section 6).
    private static func sealed(_ file: [UInt8]) -> [UInt8] {
        var (bytes, start) = (file, 0)
        while start + 27 <= bytes.count {
            let content = start + 27 + Int(bytes[start + 26])
            let lengths = bytes[start + 27..<content].map(Int.init)
            let end = min(bytes.count, content + lengths.reduce(0, +))
            bytes.replaceSubrange(start + 22..<start + 26, with: [0, 0, 0, 0])
            var sum: UInt32 = 0
            for byte in bytes[start..<end] {
                sum ^= UInt32(byte) << 24
                for _ in 0..<8 { sum = sum << 1 ^ (sum >> 31 == 1 ? 0x04C1_1DB7 : 0) }
            }
            bytes.replaceSubrange(start + 22..<start + 26, with: little(Int(sum)))
            start = end
        }
        return bytes
    }
}
