package import CameoModel

/// A picture small enough for placeholders to be computed from all its pixels.
package struct SmallPicture: Hashable, Sendable {
    /// The length of the longer edge in pixels, unless that leaves the shorter below ``shortestEdge``.
    package static let longestEdge = 32
    /// The least length of the shorter edge in pixels. With fewer, the waves of ThumbHash and BlurHash could not be
    /// told apart and plain areas would become striped, so each pixel of a smaller picture is repeated.
    package static let shortestEdge = 8

    package let size: PixelSize
    /// Red, green, blue, alpha, row by row; not premultiplied. Fully transparent pixels are black.
    package let rgba: [UInt8]

    package init(size: PixelSize, rgba: [UInt8]) {
        self.size = size
        self.rgba = rgba
    }

    /// Averages the source pixels behind each pixel, weighted by their alpha. The integer arithmetic gives the same
    /// result on every machine. `bands` is 1 (grey), 2 (grey with alpha), 3 (sRGB) or 4 (sRGB with alpha).
    package init(averaging pixels: Span<UInt8>, of whole: PixelSize, bands: Int) {
        let factor = min(1, Double(Self.longestEdge) / Double(max(whole.width, whole.height)))
        let size = whole.scaled(by: factor)
        var rgba: [UInt8] = []
        rgba.reserveCapacity(size.pixels * 4)
        for row in 0..<size.height {
            let rows = Self.cell(row, of: size.height, in: whole.height)
            for column in 0..<size.width {
                let columns = Self.cell(column, of: size.width, in: whole.width)
                var sums = Sums()
                for row in rows {
                    sums.add(pixels, from: (row * whole.width + columns.lowerBound) * bands, columns.count, bands)
                }
                rgba += sums.mean(of: rows.count * columns.count)
            }
        }
        self = SmallPicture(size: size, rgba: rgba).enlarged()
    }

    private func enlarged() -> SmallPicture {
        let (shorter, longer) = (min(size.width, size.height), max(size.width, size.height))
        let factor = max((Self.shortestEdge + shorter - 1) / shorter, Self.longestEdge / longer)
        guard factor > 1 else { return self }
        var enlarged: [UInt8] = []
        for row in 0..<size.height * factor {
            for column in 0..<size.width * factor {
                let index = ((row / factor) * size.width + column / factor) * 4
                enlarged += rgba[index..<index + 4]
            }
        }
        return SmallPicture(size: PixelSize(size.width * factor, size.height * factor), rgba: enlarged)
    }

    private static func cell(_ index: Int, of count: Int, in whole: Int) -> Range<Int> {
        index * whole / count..<(index + 1) * whole / count
    }
}

/// Sums over the pixels of one cell.
private struct Sums {
    private var (red, green, blue, alpha) = (0, 0, 0, 0)

    mutating func add(_ pixels: Span<UInt8>, from start: Int, _ count: Int, _ bands: Int) {
        let (hasAlpha, isColored) = (bands == 2 || bands == 4, bands >= 3)
        var index = start
        for _ in 0..<count {
            let weight = hasAlpha ? Int(pixels[index + bands - 1]) : 255
            alpha += weight
            red += Int(pixels[index]) * weight
            if isColored {
                green += Int(pixels[index + 1]) * weight
                blue += Int(pixels[index + 2]) * weight
            }
            index += bands
        }
        if !isColored { (green, blue) = (red, red) }
    }

    func mean(of count: Int) -> [UInt8] {
        guard alpha > 0 else { return [0, 0, 0, 0] }
        return [red, green, blue].map { UInt8(($0 + alpha / 2) / alpha) } + [UInt8((alpha + count / 2) / count)]
    }
}
