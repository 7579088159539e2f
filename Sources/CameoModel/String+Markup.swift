extension String {
    /// With everything that has a meaning in HTML and in Pango's markup spelled so that it has none.
    package var escapedForMarkup: String {
        var safe = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": safe += "&amp;"
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "\"": safe += "&quot;"
            case "'": safe += "&#39;"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}
