/// The formats that thumbnails are written in, and which options each has.
extension Rendition {
    /// The output format. `auto` is WebP in this version: small, widely supported, with alpha and animation. `source`
    /// is the source's own format if thumbnails can be written in it.
    public enum Format: String, CaseIterable, Sendable {
        case auto, source, jpeg, png, webp, avif, gif

        /// Reads `jpg` too, the usual file extension.
        package init?(word: String) { self.init(rawValue: word == "jpg" ? "jpeg" : word) }
    }
}

extension Rendition.Format {
    /// The one declaration of a format that is written. Its encoder is a `FormatEncoder` of CameoImaging, and what a worker
    /// checks of a file is in `EncodedPicture` of CameoRenderer.
    package struct Traits: Sendable {
        /// The same as a format of sources, which has its name, its media type and its first bytes.
        package let picture: PictureFormat
        /// The usual file name extension, without the dot.
        let fileExtension: String
        /// The encoding options that it has, regardless of other options.
        package let options: Set<Rendition.EncodingOption>
        /// The quality if none is asked for; nil if there is none.
        let quality: Int?
        /// Whether transparent pixels can be written.
        package var hasAlpha = true
        /// The formats of sources for which `source` means this one.
        package let sources: Set<PictureFormat>
        /// The package of Debian 13 and Ubuntu 24.04 that brings the encoder, if it is one of its own.
        var encoderPackage: String?
    }

    /// Those of `auto` and `source`, which stand for another format, are WebP's.
    package var traits: Traits {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp, .auto, .source: .webp
        case .avif: .avif
        case .gif: .gif
        }
    }

    /// The formats that name one.
    package static let written = allCases.filter { $0 != .auto && $0 != .source }

    /// The media type of the format; nil for `auto` and `source`, which do not name one.
    package var mediaType: String? { Self.written.contains(self) ? traits.picture.mediaType : nil }

    /// The usual file name extension, without the dot.
    package var fileExtension: String { Self.written.contains(self) ? traits.fileExtension : "bin" }

    /// The format to write for a source; never `auto` or `source`.
    package func written(for source: PictureFormat) -> Rendition.Format {
        switch self {
        case .auto: .webp
        case .source: Self.written.first { $0.traits.sources.contains(source) } ?? .png
        default: self
        }
    }

    /// Whether a format that is written can hold several frames.
    package var isAnimatable: Bool { traits.options.contains(.animated) }
}

extension Rendition.Format.Traits {
    static let jpeg = Self(
        picture: .jpeg,
        fileExtension: "jpg",
        options: [.quality, .maxBytes, .keepProfile, .keep, .progressive, .chromaSubsampling],
        quality: 80,
        hasAlpha: false,
        sources: [.jpeg, .video]
    )
    static let png = Self(
        picture: .png,
        fileExtension: "png",
        options: [.quality, .maxBytes, .keepProfile, .keep, .effort, .palette],
        quality: 100,
        sources: [.png, .svg, .pdf, .initials, .tiff]
    )
    static let webp = Self(
        picture: .webp,
        fileExtension: "webp",
        options: [.quality, .maxBytes, .keepProfile, .keep, .effort, .lossless, .nearLossless, .animated],
        quality: 80,
        sources: [.webp, .jxl]
    )
    static let avif = Self(
        picture: .avif,
        fileExtension: "avif",
        options: [.quality, .maxBytes, .keepProfile, .keep, .effort, .lossless, .chromaSubsampling],
        quality: 50,
        sources: [.avif, .heif],
        encoderPackage: "libheif-plugin-aomenc"
    )
    static let gif = Self(
        picture: .gif,
        fileExtension: "gif",
        options: [.keep, .effort, .animated],
        quality: nil,
        sources: [.gif]
    )
}

extension Rendition {
    /// The quality in which it is written in a format: what is asked for, or the format's own; nil if the file has none.
    package func quality(in format: Format) -> Int? {
        let options = format.traits.options
        if encoding.lossless, options.contains(.lossless) { return nil }
        if !encoding.palette, options.contains(.palette) { return nil }
        if encoding.nearLossless, options.contains(.nearLossless) { return quality ?? 60 }
        return format.traits.quality.map { quality ?? $0 }
    }

    /// A field that only some formats support. The raw value is its name in JSON.
    package enum EncodingOption: String, CaseIterable, Sendable {
        case quality, lossless, nearLossless, effort, progressive, chromaSubsampling, palette, maxBytes, animated
        case keepProfile, keep

        /// The formats that support the option, regardless of other options. `auto` counts as WebP; `source` is not
        /// listed.
        package var formats: [Format] { Format.written.filter { $0.traits.options.contains(self) } }

        /// Their names for people: `WebP, AVIF`, or with another word before the last one.
        package func formatNames(_ last: String = ", ") -> String {
            let names = formats.map(\.traits.picture.name)
            let others = names.dropLast().joined(separator: ", ")
            return others + (others.isEmpty ? "" : last) + (names.last ?? "")
        }
    }

    /// Why the option does not apply to this rendition, whether it is set or not; nil if it applies.
    ///
    /// `source` may turn out to be any format, so it accepts every option. Options that do not apply then have no
    /// effect, except `maxBytes`, which is met or the job fails.
    package func objection(to option: EncodingOption) -> String? {
        guard format == .source || format.traits.options.contains(option) else {
            let words = option.formats.map(\.rawValue).joined(separator: ", ")
            return "has no meaning for \(format.rawValue), only for \(words)"
        }
        if option == .keep, format == .gif, !encoding.keep.isSubset(of: [.copyright]) {
            return "has no meaning for gif but copyright, which becomes a comment"
        }
        let isLosslessPNG = format == .png && !encoding.palette
        switch option {
        case .quality where isLosslessPNG: return "has no meaning for a png without palette, which is lossless"
        case .quality where encoding.lossless: return "has no meaning for a lossless thumbnail"
        case .nearLossless where encoding.lossless: return "has no meaning for a lossless thumbnail"
        case .chromaSubsampling where encoding.lossless: return "has no meaning for a lossless thumbnail"
        case .maxBytes where isLosslessPNG || encoding.lossless || encoding.nearLossless:
            return "needs a quality that can be lowered, and a lossless thumbnail has none"
        default: return nil
        }
    }
}
