internal import CameoModel
internal import Foundation

/// How pixels become a file of one format; all else that is said of it is in `Rendition.Format.Traits`.
protocol FormatEncoder: SendableMetatype {
    /// Whether a file of grey pixels has a profile for grey.
    static var hasGreyProfiles: Bool { get }
    /// The picture as a file without metadata. `quality` is 1…100, or nil for a file that has none. Nil if the encoder failed.
    static func file(of picture: borrowing VipsPicture, _ encoding: Rendition.Encoding, quality: Int?) -> Data?
    /// Such a file with this metadata and no other. `size` is that of a frame. Nil if it is structured differently.
    static func adding(_ metadata: KeptMetadata, to file: Data, size: PixelSize, hasAlpha: Bool) -> Data?
}

extension FormatEncoder {
    static var hasGreyProfiles: Bool { false }
}

extension Rendition.Format {
    var encoder: any FormatEncoder.Type {
        switch self {
        case .jpeg: JPEGEncoder.self
        case .png: PNGEncoder.self
        case .webp, .auto, .source: WebPEncoder.self
        case .avif: AVIFEncoder.self
        case .gif: GIFEncoder.self
        }
    }
}

/// Encodes pixels as the plan's rendition asks.
enum Encoder {
    /// The picture must be in memory with 8 bits per band: grey or colour, with or without alpha, the frames of an
    /// animation stacked vertically. Throws an error of reason `tooManyBytes` if no quality makes it fit.
    static func encode(
        _ picture: borrowing VipsPicture,
        _ plan: RenditionPlan,
        _ placeholder: Placeholder
    ) throws(ImagingError) -> EncodedRendition {
        let output = try OutputPicture(picture, plan)
        let bytes = try chosen(output, plan, isFlat: AutoChoice.mayBeLossless(picture, plan))
        if let limit = plan.rendition.encoding.maxBytes, bytes.count > limit {
            let predicate = "cannot be encoded in \(limit) bytes: the smallest result has \(bytes.count)"
            throw ImagingError(.tooManyBytes, predicate)
        }
        return EncodedRendition(
            bytes: bytes,
            width: output.size.width,
            height: output.size.height,
            format: plan.format,
            hasAlpha: output.hasAlpha,
            frames: output.isAnimated ? try frames(in: bytes, plan.format.traits.picture) : 1,
            placeholder: placeholder
        )
    }

    /// The number of frames in an encoded animation: encoders merge those that are equal.
    private static func frames(in file: Data, _ format: PictureFormat) throws(ImagingError) -> Int {
        let frames = file.withUnsafeBytes { VipsPicture(opening: $0, as: format, LoadOptions())?.pages }
        guard let frames else { throw .encodingFailed() }
        return frames
    }

    /// The best file among those that fit, else the smallest that was found.
    private static func chosen(
        _ output: borrowing OutputPicture,
        _ plan: RenditionPlan,
        isFlat: Bool
    ) throws(ImagingError) -> Data {
        let (encoder, encoding) = (plan.format.encoder, plan.rendition.encoding)
        let usual = plan.rendition.quality(in: plan.format)
        let first = try output.encoded { encoder.file(of: $0, encoding, quality: usual) }
        if isFlat {
            let lossless = try output.encoded { AutoChoice.losslessFile(of: $0, plan) }
            // Lossless is also the better picture.
            let fits = lossless.count <= encoding.maxBytes ?? .max
            if lossless.count < first.count, fits { return lossless }
        }
        guard let limit = encoding.maxBytes, first.count > limit, let quality = usual else {
            return first
        }
        // A binary search for the highest quality that fits, since every attempt costs an encoding. Sizes rarely fail to
        // grow with quality; where they do, the result fits, but a higher quality might have fitted too.
        var (best, lowest, highest) = (first, 1, quality - 1)
        for _ in 1..<attempts where lowest <= highest {
            let middle = (lowest + highest) / 2
            let file = try output.encoded { encoder.file(of: $0, encoding, quality: middle) }
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
        WebPEncoder.lossless(picture, method: plan.rendition.encoding.effort.map(WebPEncoder.method) ?? effort)
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
