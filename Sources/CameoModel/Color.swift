/// An sRGB colour with alpha, 0…255 each, written `#rrggbbaa`.
public struct Color: Hashable, Sendable, CustomStringConvertible {
    public var red, green, blue, alpha: UInt8

    /// Opaque white.
    public static let white = Color(red: 255, green: 255, blue: 255, alpha: 255)
    /// Opaque black.
    public static let black = Color(red: 0, green: 0, blue: 0, alpha: 255)
    /// Transparent black.
    public static let transparent = Color(red: 0, green: 0, blue: 0, alpha: 0)

    /// Creates a colour from its channels, 0…255 each.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    /// Parses `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`, in either case, like CSS.
    public init?(_ text: String) {
        guard text.first == "#", text.dropFirst().allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        var digits = String(text.dropFirst())
        if digits.count == 3 || digits.count == 4 { digits = String(digits.flatMap { [$0, $0] }) }
        if digits.count == 6 { digits += "ff" }
        guard digits.count == 8, let value = UInt32(digits, radix: 16) else { return nil }
        self.init(
            red: UInt8(value >> 24),
            green: UInt8(value >> 16 & 255),
            blue: UInt8(value >> 8 & 255),
            alpha: UInt8(value & 255)
        )
    }

    /// `#rrggbbaa`
    public var description: String { "#" + Hexadecimal.encode([red, green, blue, alpha]) }
}
