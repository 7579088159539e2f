import CameoModel
import TestSupport

/// The largest allowed difference of a thumbnail from its reference.
///
/// The numbers are about a third above those measured with libvips 8.14.1, so that another encoder version passes and a
/// wrong conversion does not: a mean ΔE under 1 for lossless formats, while a forgotten profile alone makes 5 and more.
struct Tolerance: Sendable {
    /// The mean ΔE on white.
    private(set) var mean: Double
    private(set) var percentile95: Double
    /// The ΔE of a corner's centre from the scene's colour.
    private(set) var corner: Double
    /// The mean difference of alpha, of 255.
    private(set) var alpha = 1.0
    /// How much darker than white a half-transparent pixel of a white disc may be, of 255.
    private(set) var fringe = 4.0

    init(_ item: MatrixCase, _ output: MatrixOutput) {
        let written = item.writes(output)
        self.init(written: written, isLossless: output.isLossless)
        if written != .png, !output.isLossless { widen(for: output.shape) }
        widen(for: item.fixture, output)
    }

    private init(mean: Double, percentile95: Double, corner: Double) {
        (self.mean, self.percentile95, self.corner) = (mean, percentile95, corner)
    }

    private init(written format: Rendition.Format, isLossless: Bool) {
        switch format {
        // Rounding only.
        case .png: self.init(mean: 0.9, percentile95: 2, corner: 3)
        case _ where isLossless: self.init(mean: 0.9, percentile95: 2, corner: 3)
        // Quality 80 (AVIF: 50) with subsampled chroma, on a picture of strong colours.
        case .jpeg, .webp, .avif, .auto, .source: self.init(mean: 5.8, percentile95: 15, corner: 8)
        // 256 colours, dithered, and binary alpha.
        case .gif:
            self.init(mean: 7, percentile95: 18, corner: 10)
            alpha = 4
        }
        if format == .avif { fringe = 12 }
    }

    /// Subsampled chroma bleeds over hard edges: those of padding, and the corners' if they fill a tiny thumbnail.
    private mutating func widen(for shape: MatrixOutput.Shape) {
        switch shape {
        case .inside, .cover, .fill: break
        case .contain: percentile95 = 27
        case .small: (mean, percentile95, corner, alpha) = (12, 33, 12, max(2, alpha))
        }
    }

    private mutating func widen(for fixture: Fixture, _ output: MatrixOutput) {
        // These decoders shrink by themselves, WebP's to any size, JPEG's to a half, but not with Lanczos.
        if fixture.ending == "webp" || (fixture.ending == "jpg" && output.shape == .small) {
            (mean, percentile95) = (mean + 0.6, percentile95 + 2.5)
        }
        // The source's alpha, and with it the colours of its edge, was already lossy.
        if fixture.isHEIF { fringe += 8 }
        // CMYK has no such blue.
        if fixture.scene.space == .cmyk { corner += 24 }
        // 16 colours are too few for the four corners and the waves.
        if fixture.saver.contains("bitdepth 4") { corner += 12 }
        // Values of a wider colour space look paler if taken for sRGB.
        if !fixture.hasProfile, [.displayP3, .adobeRGB, .proPhoto].contains(fixture.scene.space) { corner += 14 }
    }
}
