internal import CVips
internal import CameoModel

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
