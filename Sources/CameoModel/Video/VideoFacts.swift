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
        self.duration = duration
        self.time = time
        self.codec = codec
        self.rotation = rotation
        self.hasAudio = hasAudio
    }

    /// The rotations that there are.
    package static let rotations = [0, 90, 180, 270]
}
