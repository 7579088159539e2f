extension Rendition {
    /// A field that only some formats support. The raw value is its name in JSON.
    package enum EncodingOption: String, CaseIterable, Sendable {
        case quality, lossless, nearLossless, effort, progressive, chromaSubsampling, palette, maxBytes, animated
        case keepProfile, keep

        /// The formats that support the option, regardless of other options. `auto` counts as WebP; `source` is not
        /// listed.
        package var formats: [Format] {
            switch self {
            case .quality, .maxBytes, .keepProfile, .keep: [.jpeg, .png, .webp, .avif]
            case .lossless: [.webp, .avif]
            case .nearLossless: [.webp]
            case .effort: [.png, .webp, .avif, .gif]
            case .progressive: [.jpeg]
            case .chromaSubsampling: [.jpeg, .avif]
            case .palette: [.png]
            case .animated: [.webp, .gif]
            }
        }
    }

    /// Why the option does not apply to this rendition, whether it is set or not; nil if it applies.
    ///
    /// `source` may turn out to be any format, so it accepts every option. Options that do not apply then have no
    /// effect, except `maxBytes`, which is met or the job fails.
    package func objection(to option: EncodingOption) -> String? {
        guard format == .source || option.formats.contains(format == .auto ? .webp : format) else {
            let words = option.formats.map(\.rawValue).joined(separator: ", ")
            return "has no meaning for \(format.rawValue), only for \(words)"
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

    /// Whether the option differs from its default.
    func isSet(_ option: EncodingOption) -> Bool {
        switch option {
        case .quality: quality != nil
        case .lossless: encoding.lossless
        case .nearLossless: encoding.nearLossless
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
