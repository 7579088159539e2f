internal import Foundation

/// What a fixture shows, known pixel by pixel.
package struct Scene: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// Soft waves with some detail, and a different colour in every corner.
        case waves
        /// A white disc in the middle, on nothing.
        case disc
    }

    package enum Transparency: Hashable, Sendable {
        case none
        /// Through a soft-edged hole in the middle; for `disc`: all but the disc.
        case soft
        /// The same with hard edges, for formats whose alpha is yes or no.
        case hard
    }

    package enum Depth: Hashable, Sendable {
        case eight, sixteen, float
    }

    /// Of the upright scene, in pixels.
    package static let width = 240
    package static let height = 160
    /// Edge of the coloured corners, pixels.
    package static let corner = 40
    /// Left above, right above, left below, right below: what a press can print, so that CMYK keeps them apart too.
    package static let cornerColors: [[Double]] = [
        [208, 48, 48], [48, 160, 64], [48, 72, 176], [240, 240, 240],
    ].map { $0.map { $0 / 255 } }

    package var subject = Subject.waves
    package var transparency = Transparency.none
    package var depth = Depth.eight
    package var space = SceneSpace.srgb
    /// More than 1: an animation, or pages; each shows the waves elsewhere.
    package var frames = 1

    package init() {}

    /// The colour (sRGB, 0…1 each) and the alpha (0…1) of a pixel of the upright scene. Where nothing is seen the colour
    /// is black, which is what bleeds when somebody resizes without premultiplying.
    package func pixel(_ x: Int, _ y: Int, frame: Int = 0) -> (color: [Double], alpha: Double) {
        let alpha = alpha(x, y)
        guard alpha > 0 else { return ([0, 0, 0], 0) }
        if subject == .disc { return ([1, 1, 1], alpha) }
        if let color = Self.cornerColor(x, y) { return (color, alpha) }
        let (u, v, shift) = (Double(x), Double(y), Double(frame) * 2)
        let detail = 0.05 * sin(u * 0.7 + shift) * sin(v * 0.6)
        return (
            [
                0.5 + 0.36 * sin(u * 0.041 + v * 0.017 + shift) + detail,
                0.5 + 0.36 * sin(u * 0.023 - v * 0.037 + 2 + shift) + detail,
                0.5 + 0.36 * sin(v * 0.049 + u * 0.011 + 4 - shift) + detail,
            ],
            alpha
        )
    }

    private static func cornerColor(_ x: Int, _ y: Int) -> [Double]? {
        guard x < corner || x >= width - corner, y < corner || y >= height - corner else { return nil }
        return cornerColors[(x < corner ? 0 : 1) + (y < corner ? 0 : 2)]
    }

    private func alpha(_ x: Int, _ y: Int) -> Double {
        guard transparency != .none else { return 1 }
        let (u, v) = (Double(x) + 0.5 - Double(Self.width) / 2, Double(y) + 0.5 - Double(Self.height) / 2)
        let distance = (u * u + v * v).squareRoot()
        // Over two pixels, as an edge that was drawn; a hole is wider, as one that was feathered.
        let inside =
            switch subject {
            case .disc: min(1, max(0, (60 - distance) / 2 + 0.5))
            case .waves: min(1, max(0, (50 - distance) / 8 + 0.5))
            }
        let share = subject == .disc ? inside : 1 - inside
        return transparency == .hard ? share.rounded() : share
    }
}
