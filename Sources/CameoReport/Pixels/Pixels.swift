/// A small picture in memory: red, green, blue and alpha of each pixel, row by row from the top.
package struct Pixels: Hashable, Sendable {
    package let width: Int
    package let height: Int
    /// Four bytes a pixel.
    package private(set) var bytes: [UInt8]

    /// A picture of one colour.
    package init(width: Int, height: Int, filledWith color: [UInt8]) {
        self.width = width
        self.height = height
        bytes = [UInt8](repeatElement(color, count: width * height).joined())
    }

    init(width: Int, height: Int, bytes: [UInt8]) {
        precondition(bytes.count == width * height * 4, "a pixel has four bytes")
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    /// The pixel's four bytes.
    subscript(column: Int, row: Int) -> ArraySlice<UInt8> {
        let start = (row * width + column) * 4
        return bytes[start..<start + 4]
    }

    /// Replaces the part behind another picture, which must lie within this one.
    package mutating func place(_ picture: Pixels, left: Int, top: Int) {
        for row in 0..<picture.height {
            let start = ((top + row) * width + left) * 4
            let from = row * picture.width * 4
            bytes.replaceSubrange(
                start..<start + picture.width * 4,
                with: picture.bytes[from..<from + picture.width * 4]
            )
        }
    }
}
