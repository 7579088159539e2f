/// A width and a height in pixels.
package struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    package var width: Int
    package var height: Int

    package init(_ width: Int, _ height: Int) {
        self.width = width
        self.height = height
    }

    /// The size after a quarter turn.
    package var turned: PixelSize { PixelSize(height, width) }

    package var pixels: Int { width * height }

    package var description: String { "\(width) × \(height)" }
}
