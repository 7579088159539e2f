internal import CameoModel
internal import Foundation

/// Encodes pixels as the plan's rendition asks.
enum Encoder {
    /// The file of a thumbnail, and whether any pixel may be transparent.
    typealias File = (bytes: Data, hasAlpha: Bool)

    /// The picture must be in memory with 8 bits per band: grey or colour, with or without alpha, the frames of an
    /// animation stacked vertically. Throws an error of reason `tooManyBytes` if no quality makes it fit.
    static func encode(_ picture: borrowing VipsPicture, _ plan: RenditionPlan) throws(ImagingError) -> File {
        let output = try OutputPicture(picture, plan)
        let bytes = try chosen(output, plan, isFlat: AutoChoice.mayBeLossless(picture, plan))
        if let limit = plan.rendition.encoding.maxBytes, bytes.count > limit {
            let predicate = "cannot be encoded in \(limit) bytes: the smallest result has \(bytes.count)"
            throw ImagingError(.tooManyBytes, predicate)
        }
        return (bytes, output.hasAlpha)
    }

    /// The best file among those that fit, else the smallest that was found.
    private static func chosen(
        _ output: borrowing OutputPicture,
        _ plan: RenditionPlan,
        isFlat: Bool
    ) throws(ImagingError) -> Data {
        let first = try output.encoded { plan.file(of: $0, quality: plan.quality) }
        if isFlat {
            let lossless = try output.encoded { AutoChoice.losslessFile(of: $0, plan) }
            // Lossless is also the better picture.
            let fits = lossless.count <= plan.rendition.encoding.maxBytes ?? .max
            if lossless.count < first.count, fits { return lossless }
        }
        guard let limit = plan.rendition.encoding.maxBytes, first.count > limit, let quality = plan.quality else {
            return first
        }
        // A binary search for the highest quality that fits, since every attempt costs an encoding. Sizes rarely fail to
        // grow with quality; where they do, the result fits, but a higher quality might have fitted too.
        var (best, lowest, highest) = (first, 1, quality - 1)
        for _ in 1..<attempts where lowest <= highest {
            let middle = (lowest + highest) / 2
            let file = try output.encoded { plan.file(of: $0, quality: middle) }
            // A later file that fits has a higher quality.
            if file.count <= limit || file.count < best.count { best = file }
            if file.count <= limit { lowest = middle + 1 } else { highest = middle - 1 }
        }
        return best
    }

    /// The most encodings. Seven halvings lead from 100 to 1, so that the lowest quality is tried before giving up; on
    /// other paths one step of quality may stay untried.
    private static let attempts = 7
}

/// Chooses how `auto` is written: as WebP, lossy, or lossless if that is smaller.
///
/// Lossless is smaller for drawings with few colours, by up to 80 per cent (libvips 8.14.1), and takes about twice as long
/// as lossy: it is tried only for pictures that look like such a drawing.
enum AutoChoice {
    /// Lossless encoding of larger pictures takes too long.
    private static let mostPixels = 1_000_000
    /// The sampling grid's points per side, and the most colours that they may have: 221 at most where lossless was
    /// smaller, while a photograph nearly always has over 1,000.
    private static let grid = 64
    private static let mostColors = 512
    /// libwebp's method: 0 leaves a quarter more bytes, more than 1 saves hardly any.
    private static let effort = 1

    /// Whether lossless is worth trying. The picture must be in memory.
    static func mayBeLossless(_ picture: borrowing VipsPicture, _ plan: RenditionPlan) -> Bool {
        guard plan.rendition.format == .auto, !plan.rendition.encoding.lossless, !plan.rendition.encoding.nearLossless,
            plan.animation == nil,
            picture.width * picture.height <= mostPixels
        else { return false }
        switch plan.source.format {
        case .png, .gif, .svg, .pdf, .initials: return hasFewColors(picture)
        case .jpeg, .webp, .tiff, .heif, .avif, .jxl, .video: return false
        }
    }

    static func losslessFile(of picture: borrowing VipsPicture, _ plan: RenditionPlan) -> Data? {
        picture.losslessWebP(effort: plan.rendition.encoding.effort.map(RenditionPlan.webPMethod) ?? effort)
    }

    private static func hasFewColors(_ picture: borrowing VipsPicture) -> Bool {
        let (width, height, bands) = (picture.width, picture.height, picture.bands)
        let (columns, rows) = (min(grid, width), min(grid, height))
        return picture.withPixels { pixels in
            var colors: Set<Int> = []
            for row in 0..<rows {
                for column in 0..<columns {
                    let first = (row * height / rows * width + column * width / columns) * bands
                    let color = (first..<first + bands).reduce(0) { $0 << 8 | Int(pixels[$1]) }
                    if colors.insert(color).inserted, colors.count > mostColors { return false }
                }
            }
            return true
        } ?? false
    }
}

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

    /// The encoded picture, with ``quality`` or a lower one; nil if the encoder failed.
    func file(of picture: borrowing VipsPicture, quality: Int?) -> Data? {
        let encoding = rendition.encoding
        switch (format, quality) {
        case (.jpeg, let quality):
            let quality = quality ?? 80
            return picture.jpeg(quality: quality, chroma: chroma(at: quality), isProgressive: encoding.progressive)
        case (.png, let quality?):
            return picture.palettePNG(quality: quality, effort: encoding.effort ?? 7)
        case (.png, nil): return picture.png(effort: encoding.effort ?? 6)
        case (.webp, let quality?), (.auto, let quality?), (.source, let quality?):
            // Damaged edges are noticed sooner than blurred colours: alpha stays lossless down to the default quality.
            let method = encoding.effort.map(Self.webPMethod) ?? 4
            if encoding.nearLossless { return picture.nearLosslessWebP(quality: quality, effort: method) }
            return picture.lossyWebP(quality: quality, alphaQuality: min(100, quality + 20), effort: method)
        case (.webp, nil), (.auto, nil), (.source, nil):
            return picture.losslessWebP(effort: encoding.effort.map(Self.webPMethod) ?? 4)
        case (.avif, let quality?):
            let effort = encoding.effort ?? Self.avifEffort
            return picture.avif(quality: quality, effort: effort, chroma: chroma(at: quality))
        case (.avif, nil): return picture.losslessAVIF(effort: encoding.effort ?? Self.avifEffort)
        case (.gif, _): return picture.gif(effort: encoding.effort ?? 7)
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
