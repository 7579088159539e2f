import CameoModel
import TestSupport

/// How far a thumbnail may be from what it should be.
///
/// The numbers are a third or so above what was measured at libvips 8.14.1, so that another encoder's version passes and
/// a wrong conversion does not: where nothing is lost, a mean ΔE under 1. A forgotten profile alone makes 5 and more.
struct Tolerance: Sendable {
    /// ΔE on white.
    private(set) var mean: Double
    private(set) var percentile95: Double
    /// ΔE of a corner's middle from the scene's colour.
    private(set) var corner: Double
    /// Mean, of 255.
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
        // Quality 80 (of AVIF 50) with quartered colours, on a picture of strong ones.
        case .jpeg, .webp, .avif, .auto, .source: self.init(mean: 5.8, percentile95: 15, corner: 8)
        // 256 colours, dithered, and alpha that is yes or no.
        case .gif:
            self.init(mean: 7, percentile95: 18, corner: 10)
            alpha = 4
        }
        if format == .avif { fringe = 12 }
    }

    /// Quartered colours run over hard edges: those of padding, and the corners' where they fill a tiny thumbnail.
    private mutating func widen(for shape: MatrixOutput.Shape) {
        switch shape {
        case .inside, .cover, .fill: break
        case .contain: percentile95 = 27
        case .small: (mean, percentile95, corner, alpha) = (12, 33, 12, max(2, alpha))
        }
    }

    private mutating func widen(for fixture: Fixture, _ output: MatrixOutput) {
        // These decoders shrink by themselves: WebP's to any size, JPEG's to a half. Theirs is no Lanczos.
        if fixture.ending == "webp" || (fixture.ending == "jpg" && output.shape == .small) {
            (mean, percentile95) = (mean + 0.6, percentile95 + 2.5)
        }
        // Their alpha, and with it the colours of its edge, was lossy before.
        if fixture.isHEIF { fringe += 8 }
        // A press has no such blue.
        if fixture.scene.space == .cmyk { corner += 24 }
        // 16 colours are not enough for the four corners' and the waves'.
        if fixture.saver.contains("bitdepth 4") { corner += 12 }
        // Numbers of a wider space that pass for sRGB are paler.
        if !fixture.hasProfile, [.displayP3, .adobeRGB, .proPhoto].contains(fixture.scene.space) { corner += 14 }
    }
}
