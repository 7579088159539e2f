extension Rendition {
    /// A field that some formats have and others have not. Its raw value is its name in JSON.
    package enum EncodingOption: String, CaseIterable, Sendable {
        case quality, lossless, effort, progressive, chromaSubsampling, palette, maxBytes, animated, keepProfile, keep

        /// The formats that have it, whatever else is asked for. `auto` counts as WebP; `source` is not listed.
        package var formats: [Format] {
            switch self {
            case .quality, .maxBytes, .keepProfile, .keep: [.jpeg, .png, .webp, .avif]
            case .lossless: [.webp, .avif]
            case .effort: [.png, .webp, .avif, .gif]
            case .progressive: [.jpeg]
            case .chromaSubsampling: [.jpeg, .avif]
            case .palette: [.png]
            case .animated: [.webp, .gif]
            }
        }
    }

    /// Why the option has no meaning for this rendition, whether it is set or not; nil if it has one.
    ///
    /// `source` may turn out to be any format, so that it takes every option: what does not apply then has no effect, but
    /// for `maxBytes`, which is kept or fails.
    package func objection(to option: EncodingOption) -> String? {
        guard format == .source || option.formats.contains(format == .auto ? .webp : format) else {
            let words = option.formats.map(\.rawValue).joined(separator: ", ")
            return "has no meaning for \(format.rawValue), only for \(words)"
        }
        let isLosslessPNG = format == .png && !encoding.palette
        switch option {
        case .quality where isLosslessPNG: return "has no meaning for png, which is lossless (but with palette it has)"
        case .quality where encoding.lossless: return "has no meaning for a lossless thumbnail"
        case .chromaSubsampling where encoding.lossless: return "has no meaning for a lossless thumbnail"
        case .maxBytes where isLosslessPNG || encoding.lossless:
            return "needs a quality that can be lowered, and a lossless thumbnail has none"
        default: return nil
        }
    }

    /// Whether the field differs from its default.
    func isSet(_ option: EncodingOption) -> Bool {
        switch option {
        case .quality: quality != nil
        case .lossless: encoding.lossless
        case .effort: encoding.effort != nil
        case .progressive: encoding.progressive
        case .chromaSubsampling: encoding.chromaSubsampling != nil
        case .palette: encoding.palette
        case .maxBytes: encoding.maxBytes != nil
        case .animated: encoding.animated
        case .keepProfile: encoding.keepProfile
        case .keep: !encoding.keep.isEmpty
        }
    }
}
