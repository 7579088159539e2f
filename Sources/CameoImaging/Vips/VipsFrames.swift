internal import CVips
internal import CameoModel
internal import Glibc

/// Stacks the frames of an animation vertically by copying their pixels into one tall picture. Frames that are missing at
/// its end are black, or transparent.
///
/// vips_arrayjoin is no alternative: in libvips 8.14.1 it crashes when it joins pictures in memory in one column.
struct VipsFrames: ~Copyable {
    private let count: Int
    private var taken = 0
    private let first: VipsPicture
    private let pixels: UnsafeMutableRawPointer
    private let frameBytes: Int

    /// Makes room for frames of the size and type of the first; nil if there is not enough memory.
    init?(count: Int, like first: borrowing VipsPicture) {
        let bytes = Self.bytes(of: first)
        guard let pixels = calloc(count, bytes) else { return nil }
        (self.count, self.pixels, frameBytes) = (count, pixels, bytes)
        self.first = first.sharingReference()
    }

    private static func bytes(of frame: borrowing VipsPicture) -> Int {
        frame.width * frame.height * frame.bands * Int(vips_format_sizeof(frame.format))
    }

    /// Appends the next frame, which is in memory and has the size and type of the first. Returns false if it has not.
    mutating func append(_ frame: borrowing VipsPicture) -> Bool {
        guard let source = vips_image_get_data(frame.image), Self.bytes(of: frame) == frameBytes, taken < count else {
            return false
        }
        memcpy(pixels + taken * frameBytes, source, frameBytes)
        taken += 1
        return true
    }

    /// All frames stacked vertically. The picture must not outlive this value, which owns its pixels.
    func stacked() -> VipsPicture? {
        VipsPicture { cameo_vips_over_memory(pixels, frameBytes * count, first.image, Int32(first.height * count), $0) }
    }

    deinit { free(pixels) }
}

/// How much the decoder itself shrinks the picture, at almost no cost.
enum ShrinkOnLoad: Hashable {
    case none
    /// A JPEG's divisor: 2, 4 or 8.
    case divisor(Int)
    /// A WebP's scale, 0 < scale < 1, or any scale of a vector drawing, which is drawn at that size.
    case scale(Double)

    var divisor: Int32 { if case .divisor(let divisor) = self { Int32(divisor) } else { 1 } }

    var scale: Double { if case .scale(let scale) = self { scale } else { 1 } }

    /// JPEG and WebP keep a factor of two for the actual resize, because their decoders' shrink is a plain average. WebP's is
    /// sharp only over whole pixels, so both edges are divided without a rest. WebP with alpha is not shrunk, because its
    /// decoder would mix the colours of transparent pixels into visible ones.
    init(for format: PictureFormat, from header: borrowing VipsPicture, to target: PixelSize) {
        let source = header.size
        let factors = source.factors(from: target)
        let common = min(factors.across, factors.down)
        switch format {
        case .jpeg where common >= 16: self = .divisor(8)
        case .jpeg where common >= 8: self = .divisor(4)
        case .jpeg where common >= 4: self = .divisor(2)
        case .webp where !header.hasAlpha:
            let divisors = stride(from: Int(common / 2), to: 1, by: -1)
            let divisor = divisors.first { source.width.isMultiple(of: $0) && source.height.isMultiple(of: $0) }
            self = divisor.map { .scale(1 / Double($0)) } ?? .none
        case .svg, .pdf: self = .scale(Double(header.measure) / common)
        case .initials where common != 1: self = .scale(1 / common)
        case .jpeg, .webp, .png, .gif, .tiff, .heif, .avif, .jxl, .initials, .video: self = .none
        }
    }
}
