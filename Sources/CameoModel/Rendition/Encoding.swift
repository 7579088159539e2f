extension Rendition {
    /// How the pixels become bytes, besides `format` and `quality`.
    public struct Encoding: Hashable, Sendable {
        /// How coarsely colour is stored beside brightness.
        public enum ChromaSubsampling: String, CaseIterable, Sendable {
            case full = "4:4:4"
            case quarter = "4:2:0"
        }

        /// What a thumbnail may keep of the source's metadata. Everything else goes.
        public enum Metadata: String, CaseIterable, Sendable {
            /// Copyright and artist (EXIF).
            case copyright
            /// All of EXIF but the place, the orientation (applied) and the embedded preview.
            case exif
            /// The place (EXIF and XMP): only ever kept by this word.
            case gps
            /// The profile of the thumbnail's pixels.
            case icc
            /// XMP without the place.
            case xmp
        }

        package static let effortRange = 1...9
        package static let maxBytesRange = 128...67_108_864

        /// WebP and AVIF: every pixel as it was (WebP: exactly, but for what full transparency hides; AVIF: within 1 of 255,
        /// since libheif stores YCbCr).
        public var lossless = false
        /// 1 (fast) to 9 (small): PNG, WebP, AVIF, GIF; nil for the format's default.
        public var effort: Int?
        /// JPEG: shows coarse at first when it loads slowly.
        public var progressive = false
        /// JPEG and AVIF; nil: 4:2:0, from quality 90 on 4:4:4.
        public var chromaSubsampling: ChromaSubsampling?
        /// PNG: at most 256 colours.
        public var palette = false
        /// The quality is lowered until the thumbnail has at most this many bytes.
        public var maxBytes: Int?
        /// All frames instead of one: GIF and WebP.
        public var animated = false
        /// Keeps the source's colour space, with its profile embedded, instead of converting to sRGB.
        public var keepProfile = false
        /// What of the source's metadata is kept.
        public var keep: Set<Metadata> = []

        /// The format's defaults.
        public init() {}
    }
}
