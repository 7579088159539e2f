internal import CameoModel

extension RenditionPlan {
    /// The requested quality or the format's default; nil if the output has none.
    var quality: Int? {
        let encoding = rendition.encoding
        switch format {
        case .jpeg: return rendition.quality ?? 80
        case .webp, .auto, .source:
            return encoding.lossless ? nil : rendition.quality ?? (encoding.nearLossless ? 60 : 80)
        case .avif: return encoding.lossless ? nil : rendition.quality ?? 50
        case .png: return encoding.palette ? rendition.quality ?? 100 : nil
        case .gif: return nil
        }
    }

    /// The saver for ``quality`` or a lower one.
    func saver(quality: Int?) -> VipsSaver {
        let encoding = rendition.encoding
        switch (format, quality) {
        case (.jpeg, let quality):
            let quality = quality ?? 80
            return .jpeg(quality: quality, chroma: chroma(at: quality), isProgressive: encoding.progressive)
        case (.png, let quality?):
            return .palettePNG(quality: quality, effort: encoding.effort ?? 7)
        case (.png, nil): return .png(effort: encoding.effort ?? 6)
        case (.webp, let quality?), (.auto, let quality?), (.source, let quality?):
            // Damaged edges are noticed sooner than blurred colours: alpha stays lossless down to the default quality.
            let method = encoding.effort.map(Self.webPMethod) ?? 4
            if encoding.nearLossless { return .nearLosslessWebP(quality: quality, effort: method) }
            return .webp(quality: quality, alphaQuality: min(100, quality + 20), effort: method)
        case (.webp, nil), (.auto, nil), (.source, nil):
            return .losslessWebP(effort: encoding.effort.map(Self.webPMethod) ?? 4)
        case (.avif, let quality?):
            return .avif(quality: quality, effort: encoding.effort ?? Self.avifEffort, chroma: chroma(at: quality))
        case (.avif, nil): return .losslessAVIF(effort: encoding.effort ?? Self.avifEffort)
        case (.gif, _): return .gif(effort: encoding.effort ?? 7)
        }
    }

    /// libaom's effort. Its default, 4, takes more than four times as long to save a few per cent of bytes.
    private static let avifEffort = 2

    /// Maps an effort of 1…9 to libwebp's 0…6.
    static func webPMethod(effort: Int) -> Int { ((effort - 1) * 6 + 4) / 8 }

    /// The default is libvips' own.
    private func chroma(at quality: Int) -> Rendition.Encoding.ChromaSubsampling {
        rendition.encoding.chromaSubsampling ?? (quality >= 90 ? .full : .quarter)
    }
}
