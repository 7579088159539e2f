internal import Foundation

extension Initials {
    /// Background colours on which white text has a contrast of at least 4.5 (WCAG level AA). The list and its order
    /// must not change: that would change everybody's avatar.
    static let palette: [Color] = [
        0xC62828, 0xAD1457, 0x6A1B9A, 0x4527A0, 0x283593, 0x1565C0, 0x01579B, 0x006064, 0x00695C, 0x2E7D32, 0x33691E,
        0x6D6400, 0xA84300, 0xBF360C, 0x4E342E, 0x37474F,
    ].map { Color(red: UInt8($0 >> 16), green: UInt8($0 >> 8 & 255), blue: UInt8($0 & 255), alpha: 255) }

    /// The background for a name, stable across processes and machines and independent of case.
    static func background(for name: String) -> Color {
        let number = SHA256.digest(of: Array(name.lowercased().utf8)).hex.prefix(8)
        return palette[Int(number, radix: 16).map { $0 % palette.count } ?? 0]
    }
}

extension Color {
    /// Black or white, whichever has more contrast with this colour blended onto white.
    var readableTextColor: Color {
        let luminance = relativeLuminance
        // WCAG 2.1's contrast ratio of the lighter colour to the darker.
        let (white, black) = (1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05)
        return white >= black ? .white : Color(red: 0, green: 0, blue: 0, alpha: 255)
    }

    /// The relative luminance of the colour blended onto white (https://www.w3.org/TR/WCAG21/#dfn-relative-luminance).
    var relativeLuminance: Double {
        func linear(_ channel: UInt8) -> Double {
            let share = Double(alpha) / 255
            let value = Double(channel) / 255 * share + 1 - share
            return value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }
}
