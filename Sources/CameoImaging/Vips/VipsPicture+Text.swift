internal import CVips
internal import CameoModel

extension VipsPicture {
    /// A line of text in the machine's bold sans-serif font, or in one that has its letters: sRGB and alpha, cut to its
    /// ink. The colour is opaque (emoji have their own), the font's size is pixels of an em. Nil if nothing was drawn.
    init?(text: String, color: Color, fontSize: Double) {
        let digits = "\(color)".dropLast(2)
        let markup = "<span foreground=\"\(digits)\">\(text.escapedForMarkup)</span>"
        self.init { cameo_vips_text($0, markup, "sans bold \(fontSize)") }
    }
}
