internal import CVips
internal import CameoModel

/// Draws letters in the centre of a plain square.
struct InitialsDrawing {
    /// The letters' ink as a share of the square's edge, at most: the width limits wide pairs, the height single
    /// letters.
    private static let (width, height) = (0.6, 0.45)
    /// The largest font size as a share of the square's edge: capitals of most fonts then reach `height`, and a dot
    /// stays a dot.
    private static let largestFont = 0.62
    /// The font size, in pixels, at which the ink is measured; large enough for rounding to whole pixels not to matter.
    private static let measuredFont = 256.0

    private let initials: Initials

    /// Parses an ``Initials/canonicalText``.
    init(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .unreadable("it is not UTF-8") }
        do throws(InvalidRequest) {
            initials = try Initials(parsing: text)
        } catch {
            throw .unreadable(error.reason)
        }
    }

    /// Red, green and blue, plus alpha if the background is transparent, at a scale of the size that the initials
    /// declare.
    func picture(scale: Double) throws(ImagingError) -> VipsPicture {
        guard Self.hasFont(for: initials.letters) else {
            throw ImagingError(.failed, "cannot be drawn: no installed font has the letters \"\(initials.letters)\"")
        }
        let edge = max(1, Int((Double(initials.size) * scale).rounded()))
        let letters = try text(fontSize: try fontSize(edge: Double(edge)))
        let background = initials.background.numbers(bands: 3) + [Double(initials.background.alpha)]
        let square = PixelSize(edge, edge)
        let place = PixelArea(placing: letters.size, in: square, gravity: .center)
        let pixels = letters.embedded(at: place, in: square, background: [0, 0, 0, 0])?.composited(over: background)?
            .bands(from: 0, count: initials.background.alpha == 255 ? 3 : 4)?.roundedToBytes()
        return try .result(of: "initials", pixels?.materialized())
    }

    /// The font size, found by measuring the ink of these letters, so that it suits every script and font.
    private func fontSize(edge: Double) throws(ImagingError) -> Double {
        let measured = try text(fontSize: Self.measuredFont)
        let (width, height) = (Double(measured.width), Double(measured.height))
        let fitting = Self.measuredFont * min(edge * Self.width / width, edge * Self.height / height)
        return min(fitting, edge * Self.largestFont)
    }

    private func text(fontSize: Double) throws(ImagingError) -> VipsPicture {
        try .result(of: "initials", VipsPicture(text: initials.letters, color: initials.color, fontSize: fontSize))
    }

    /// Whether some font has every letter. Marks and joiners do not count: fonts draw them with the preceding letter or
    /// not at all.
    private static func hasFont(for text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark, .format: true
            default: cameo_has_font_for(scalar.value) != 0
            }
        }
    }
}

extension VipsPicture {
    /// Draws a line of text in the system's bold sans-serif font, or in one that has its letters: sRGB with alpha,
    /// cropped to its ink. The colour is opaque (emoji have their own); the font size is in pixels per em. Nil if
    /// nothing was drawn.
    init?(text: String, color: Color, fontSize: Double) {
        let digits = "\(color)".dropLast(2)
        let markup = "<span foreground=\"\(digits)\">\(text.escapedForMarkup)</span>"
        self.init { cameo_vips_text($0, markup, "sans bold \(fontSize)") }
    }
}
