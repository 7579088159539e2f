/// A contact sheet that is one picture: small pictures of equal size in rows.
package struct PictureSheet {
    /// The width and height of a small picture, which a renderer made.
    package static let edge = 160
    /// The most pictures: so many that the sheet has 28 million pixels.
    package static let most = 1_000
    private static let gap = 8
    private static let paper: [UInt8] = [0xF4, 0xF4, 0xF2, 0xFF]
    private static let missing: [UInt8] = [0xDD, 0xDD, 0xDD, 0xFF]

    private let count: Int
    private let perRow: Int
    private var sheet: Pixels

    /// An empty sheet for so many pictures, somewhat wider than high.
    package init(count: Int) {
        self.count = count
        let columns = max(1, Int((Double(count) * 1.5).squareRoot().rounded(.up)))
        perRow = columns
        let rows = max(1, (count + columns - 1) / columns)
        func length(_ number: Int) -> Int { number * (Self.edge + Self.gap) + Self.gap }
        sheet = Pixels(width: length(columns), height: length(rows), filledWith: Self.paper)
    }

    /// Puts a picture in its place; nil or a wrong size leaves a grey square.
    package mutating func place(_ picture: Pixels?, at index: Int) {
        let fits = picture.map { $0.width == Self.edge && $0.height == Self.edge } ?? false
        let square = Pixels(width: Self.edge, height: Self.edge, filledWith: Self.missing)
        sheet.place(
            fits ? picture ?? square : square,
            left: Self.gap + index % perRow * (Self.edge + Self.gap),
            top: Self.gap + index / perRow * (Self.edge + Self.gap)
        )
    }

    package var pixels: Pixels { sheet }
}
