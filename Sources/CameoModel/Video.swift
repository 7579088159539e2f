/// What is known of a video beyond the size of its frames.
///
/// JSON form: `proto-json/job.schema.json#/$defs/video`.
public struct VideoFacts: Hashable, Codable, Sendable {
    /// What the frames are coded in.
    public enum Codec: String, CaseIterable, Codable, Sendable {
        case h264, hevc, vp8, vp9, av1, mpeg4, mpeg2, mjpeg, prores
        /// Only covers.
        case png
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

    package init(duration: Double?, time: Double?, codec: Codec, rotation: Int, hasAudio: Bool) {
        (self.duration, self.time, self.codec, self.rotation) = (duration, time, codec, rotation)
        self.hasAudio = hasAudio
    }

    /// The rotations that there are.
    package static let rotations = [0, 90, 180, 270]
}

/// A file format of videos, and of sound with a cover, recognised by its first bytes.
package enum VideoContainer: String, CaseIterable, Sendable {
    case mp4, matroska, mpegTS, avi, mp3

    package var name: String {
        switch self {
        case .mp4: "MP4 or QuickTime"
        case .matroska: "WebM or Matroska"
        case .mpegTS: "MPEG transport stream"
        case .avi: "AVI"
        case .mp3: "MP3"
        }
    }

    /// Nil for everything else, pictures included, and if the file cannot be read.
    package init?(sniffing file: OpenFile) { self.init(sniffing: file.bytes(in: 0..<Self.sniffedBytes)) }

    /// The bytes of a packet of a transport stream (ISO/IEC 13818-1), and before it in some recordings.
    private static let (packet, stamp) = (188, 4)
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
        func has(_ text: String, at offset: Int) -> Bool { start.dropFirst(offset).starts(with: text.utf8) }
        func isStream(every stride: Int, from first: Int, packets: Int = 4) -> Bool {
            (0..<packets).allSatisfy { start.dropFirst(first + $0 * stride).first == 0x47 }
        }
        if ["ftyp", "moov", "mdat", "wide", "free", "skip"].contains(where: { has($0, at: 4) }) {
            // AVIF and HEIF are pictures in the same boxes, unless they are animations without a still picture.
            guard PictureFormat(sniffing: start) == nil || Self.hasFilmAlone(start), !has("mif3", at: 8) else {
                return nil
            }
            self = .mp4
        } else if start.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            self = .matroska
        } else if has("RIFF", at: 0), has("AVI ", at: 8) {
            self = .avi
        } else if has("ID3", at: 0) {
            // Without a tag, there is no cover.
            self = .mp3
        } else if isStream(every: Self.packet, from: 0) || isStream(every: Self.packet + Self.stamp, from: Self.stamp) {
            self = .mpegTS
        } else if PictureFormat(sniffing: start) == nil,
            start.indices.contains(where: { first in
                [Self.packet, Self.packet + Self.stamp].contains { isStream(every: $0, from: first, packets: 8) }
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
