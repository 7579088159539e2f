/// A contact sheet that is one picture: small pictures of equal size in rows, each on a card with two lines of text.
package struct PictureSheet {
    /// The width and height of a small picture, which a renderer made.
    package static let edge = 160
    /// The most pictures: so many that the sheet has 41 million pixels.
    package static let most = 1_000
    private static let gap = 12
    private static let padding = 8
    private static let lineHeight = BitmapFont.height + 4
    private static let cardWidth = edge + 2 * padding
    private static let cardHeight = edge + 2 * padding + 2 * lineHeight
    // The colours of the page that `ContactSheet` makes.
    private static let background: [UInt8] = [0xF4, 0xF4, 0xF2, 0xFF]
    private static let card: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
    private static let border: [UInt8] = [0xE2, 0xE2, 0xDE, 0xFF]
    private static let missing: [UInt8] = [0xEE, 0xEE, 0xEC, 0xFF]
    private static let ink: [UInt8] = [0x22, 0x22, 0x22, 0xFF]
    private static let faint: [UInt8] = [0x66, 0x66, 0x66, 0xFF]
    private static let alarm: [UInt8] = [0xAA, 0x11, 0x11, 0xFF]

    private let perRow: Int
    package private(set) var pixels: Pixels

    /// An empty sheet for so many pictures, somewhat wider than high.
    package init(count: Int) {
        perRow = max(1, min(count, Int((Double(count) * 1.5).squareRoot().rounded(.up))))
        let rows = max(1, (count + perRow - 1) / perRow)
        pixels = Pixels(
            width: perRow * (Self.cardWidth + Self.gap) + Self.gap,
            height: rows * (Self.cardHeight + Self.gap) + Self.gap,
            filledWith: Self.background
        )
    }

    /// Puts a picture in its place, with its caption; nil or a wrong size leaves a grey square that says so.
    package mutating func place(_ picture: Pixels?, at index: Int, caption: Caption) {
        let left = Self.gap + index % perRow * (Self.cardWidth + Self.gap)
        let top = Self.gap + index / perRow * (Self.cardHeight + Self.gap)
        fill(left, top, Self.cardWidth, Self.cardHeight, Self.border)
        fill(left + 1, top + 1, Self.cardWidth - 2, Self.cardHeight - 2, Self.card)
        let (center, inside) = (left + Self.cardWidth / 2, top + Self.padding)
        if let picture, picture.width == Self.edge, picture.height == Self.edge {
            pixels.place(picture, left: left + Self.padding, top: inside)
        } else {
            fill(left + Self.padding, inside, Self.edge, Self.edge, Self.missing)
            write("cannot be read", center, inside + (Self.edge - BitmapFont.height) / 2, Self.alarm, on: Self.missing)
        }
        let text = inside + Self.edge + Self.padding
        write(caption.name, center, text, Self.ink, on: Self.card)
        write(caption.size, center, text + Self.lineHeight, Self.faint, on: Self.card)
    }

    private mutating func fill(_ left: Int, _ top: Int, _ width: Int, _ height: Int, _ color: [UInt8]) {
        pixels.place(Pixels(width: width, height: height, filledWith: color), left: left, top: top)
    }

    private mutating func write(_ text: String, _ center: Int, _ top: Int, _ ink: [UInt8], on paper: [UInt8]) {
        let line = BitmapFont.picture(BitmapFont.cut(text, toWidth: Self.edge), ink: ink, paper: paper)
        pixels.place(line, left: center - line.width / 2, top: top)
    }

    /// What stands below a picture.
    package struct Caption: Sendable {
        package let name: String
        package let size: String

        package init(name: String, size: String) {
            self.name = name
            self.size = size
        }
    }
}
