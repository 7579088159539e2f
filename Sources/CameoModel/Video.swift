package import CameoSystem

/// What is known of a video beyond the size of its frames.
///
/// JSON form: `proto-json/job.schema.json#/$defs/video`.
public struct VideoFacts: Hashable, Codable, Sendable {
    /// What the frames are coded in.
    public enum Codec: String, CaseIterable, Codable, Sendable {
        case h264, hevc, vp8, vp9, av1, mpeg4, mpeg2, mjpeg, prores
        case mpeg1, h263, flv1, wmv1, wmv2, wmv3, vc1, msmpeg4, vp6, theora, dv
        /// Only covers.
        case png, gif, webp, bmp
    }

    /// Which of a file's pictures a cover is. Of several, the first of these that there is, is shown.
    public enum Cover: String, CaseIterable, Codable, Sendable {
        /// The front; what the file says nothing of; anything else, as the back or the artist; an icon of the file.
        case front, other, additional, icon
    }

    /// In seconds; nil if the file does not say.
    public let duration: Double?
    /// The moment that the thumbnail shows, in seconds from the beginning; nil for a cover, and if it is unknown.
    public let time: Double?
    /// The codec of the frames.
    public let codec: Codec
    /// How frames are turned to be shown, clockwise in degrees: 0, 90, 180 or 270. Thumbnails are upright.
    public let rotation: Int
    /// Whether there is sound.
    public let hasAudio: Bool
    /// Nil for a frame.
    public let cover: Cover?

    package init(duration: Double?, time: Double?, codec: Codec, rotation: Int, hasAudio: Bool, cover: Cover? = nil) {
        (self.duration, self.time, self.codec, self.rotation) = (duration, time, codec, rotation)
        (self.hasAudio, self.cover) = (hasAudio, cover)
    }

    /// The rotations that there are.
    package static let rotations = [0, 90, 180, 270]
}

extension VideoFacts.Codec {
    package var isOnlyOfCovers: Bool { [.png, .gif, .webp, .bmp].contains(self) }

    /// libavcodec's decoders. The last one is for frames with alpha.
    package var decoders: [String] {
        switch self {
        case .vp8: ["vp8", "libvpx"]
        case .vp9: ["vp9", "libvpx-vp9"]
        case .av1: ["libdav1d"]
        case .mpeg1, .mpeg2, .dv: [rawValue + "video"]
        case .h263: ["h263", "h263p"]
        case .flv1: ["flv"]
        case .msmpeg4: ["msmpeg4v2", "msmpeg4"]
        case .vp6: ["vp6f", "vp6a"]
        default: [rawValue]
        }
    }
}

/// A file format of videos, and of sound with a cover, recognised by its first bytes.
package enum VideoContainer: String, CaseIterable, Sendable {
    case mp4, matroska, mpegTS, mpegPS, avi, asf, flv, ogg, mp3, flac, wav, aiff

    package var name: String { kind.name }
    /// libavformat's name.
    package var demuxer: String { kind.demuxer }

    /// Files begin with one of the signatures, in which ? stands for any byte. Those without one have no such beginning.
    private var kind: (name: String, demuxer: String, signatures: [String]) {
        switch self {
        case .mp4: ("MP4 or QuickTime", "mov", [])
        case .matroska: ("WebM or Matroska", "matroska", ["\u{1A}E\u{DF}\u{A3}"])
        case .mpegTS: ("MPEG transport stream", "mpegts", [])
        case .mpegPS: ("MPEG program stream", "mpeg", ["\0\0\u{1}\u{BA}"])
        case .avi: ("AVI", "avi", ["RIFF????AVI "])
        case .asf: ("Windows Media (ASF)", "asf", ["0&\u{B2}u\u{8E}f\u{CF}\u{11}\u{A6}\u{D9}\0\u{AA}\0b\u{CE}l"])
        case .flv: ("Flash video", "flv", ["FLV\u{1}"])
        case .ogg: ("Ogg", "ogg", ["OggS\0"])
        // Without a tag, there is no cover.
        case .mp3: ("MP3", "mp3", ["ID3"])
        case .flac: ("FLAC", "flac", ["fLaC"])
        case .wav: ("WAV", "wav", ["RIFF????WAVE", "RF64????WAVE"])
        case .aiff: ("AIFF", "aiff", ["FORM????AIFF", "FORM????AIFC"])
        }
    }

    /// The boxes that MP4 and QuickTime files begin with.
    private static let firstBoxes = "ftyp moov mdat wide free skip pnot uuid meta udta junk moof styp sidx emsg prft"

    /// Nil for everything else, pictures included, and if the file cannot be read.
    package init?(sniffing file: OpenFile) { self.init(sniffing: file.bytes(in: 0..<Self.sniffedBytes)) }

    /// The sizes of a transport stream's packets (ISO/IEC 13818-1), with a time stamp before them in some recordings, or
    /// error correction behind, and where the first begins.
    private static let strides = [(188, 0), (192, 4), (204, 0)]
    private static let sniffedBytes = 4_096

    private static func hasFilmAlone(_ start: [UInt8]) -> Bool {
        var (offset, names): (Int, Set<String>) = (0, [])
        while let size = start.number(at: offset, count: 4), let name = start.name(at: offset + 4), size >= 8 {
            names.insert(name)
            offset += size
        }
        return names.contains("moov") && !names.contains("meta")
    }

    /// - Parameter bytes: the file, or its first 4,096 bytes.
    package init?(sniffing bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(Self.sniffedBytes))
        func begins(_ signature: String) -> Bool {
            let scalars = signature.unicodeScalars
            return start.count >= scalars.count
                && zip(scalars, start).allSatisfy { $0 == "?" || $0.value == UInt32($1) }
        }
        func isStream(every stride: Int, from first: Int, packets: Int = 4) -> Bool {
            (0..<packets).allSatisfy { start.dropFirst(first + $0 * stride).first == 0x47 }
        }
        // Text has such words too, where a box has its size.
        if let box = start.name(at: 4), Self.firstBoxes.split(separator: " ").contains(box[...]),
            box == "mdat" || start[0] < 0x20
        {
            // AVIF and HEIF are pictures in the same boxes, unless they are animations without a still picture.
            guard PictureFormat(sniffing: start) == nil || Self.hasFilmAlone(start), !begins("????ftypmif3") else {
                return nil
            }
            self = .mp4
        } else if let container = Self.allCases.first(where: { $0.kind.signatures.contains(where: begins) }) {
            self = container
        } else if Self.strides.contains(where: { isStream(every: $0, from: $1) }) {
            self = .mpegTS
        } else if PictureFormat(sniffing: start) == nil,
            start.indices.contains(where: { first in
                Self.strides.contains { isStream(every: $0.0, from: first, packets: 8) }
            })
        {
            // What was recorded begins within a packet, or behind what a server said.
            self = .mpegTS
        } else {
            return nil
        }
    }
}

/// What `cameo-frames` says of its PNG, in a chunk of its own that follows the PNG's header: the size of the video's frame,
/// of which the picture may be a smaller one, and how many frames stand one below the other.
package struct VideoFrameHeader: Hashable, Sendable {
    /// The chunk's name, its offset in the file, and that of the number of frames, which has four bytes.
    package static let chunk = "caMo"
    package static let offset = 37
    package static let framesOffset = offset + 12

    package let size: PixelSize
    package let frames: Int

    /// Nil unless the bytes are a PNG by `cameo-frames`.
    package init?(in bytes: UnsafeRawBufferPointer) {
        guard bytes.name(at: Self.offset) == Self.chunk, let width = bytes.number(at: Self.offset + 4, count: 4),
            let height = bytes.number(at: Self.offset + 8, count: 4),
            let frames = bytes.number(at: Self.framesOffset, count: 4), width > 0, height > 0, frames > 0
        else { return nil }
        (size, self.frames) = (PixelSize(width, height), frames)
    }
}

/// What is missing of a video, whose file has holes there.
package protocol VideoParts: Sendable {
    /// The size of the parts that were loaded so far.
    var loadedBytes: Int { get }

    /// Loads the parts with the given bytes into the file, if they are still missing.
    ///
    /// - Returns: whether any was missing.
    /// - Throws: `JobFailure` of stage `fetch`, or `CancellationError`.
    func load(_ offsets: Set<Int>, _ clock: WorkClock) async throws -> Bool
}
