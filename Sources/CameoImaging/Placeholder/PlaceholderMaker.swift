internal import CameoModel
internal import Foundation

/// Computes placeholders, which can be shown until the thumbnail has loaded, from the thumbnail's own pixels.
enum PlaceholderMaker {
    /// The placeholder of a finished rendition's first frame: 8 bits, grey or sRGB, with or without alpha. Every pixel
    /// is read, so the picture should be in memory already. Throws if a pixel cannot be computed.
    static func placeholder(of picture: borrowing VipsPicture) throws(ImagingError) -> Placeholder {
        let (size, bands) = (PixelSize(picture.width, picture.height), picture.bands)
        let small = picture.withPixels { SmallPicture(averaging: $0, of: size, bands: bands) }
        guard let small else { throw .processingFailed(step: "placeholder") }
        return Placeholder(
            thumbHash: Data(ThumbHash.bytes(of: small)).base64EncodedString(),
            blurHash: BlurHash.text(of: small),
            dominantColor: DominantColor.color(of: small)
        )
    }
}

/// The most common colour of a picture.
enum DominantColor {
    /// The mean of the fullest of 4,096 boxes of similar colours (16 steps per channel), each pixel weighted by its
    /// alpha; always opaque. Ties go to the darkest box by red, green, blue. White if nothing is visible.
    static func color(of picture: SmallPicture) -> Color {
        var counts = [Int](repeating: 0, count: 4_096)
        for index in stride(from: 0, to: picture.rgba.count, by: 4) {
            counts[box(of: picture.rgba, at: index)] += Int(picture.rgba[index + 3])
        }
        var fullest = 0
        for (box, count) in counts.enumerated() where count > counts[fullest] { fullest = box }
        let weight = counts[fullest]
        guard weight > 0 else { return .white }

        var sums = [0, 0, 0]
        for index in stride(from: 0, to: picture.rgba.count, by: 4) where box(of: picture.rgba, at: index) == fullest {
            for band in 0..<3 { sums[band] += Int(picture.rgba[index + band]) * Int(picture.rgba[index + 3]) }
        }
        let mean = sums.map { UInt8(($0 + weight / 2) / weight) }
        return Color(red: mean[0], green: mean[1], blue: mean[2], alpha: 255)
    }

    private static func box(of rgba: [UInt8], at index: Int) -> Int {
        Int(rgba[index] >> 4) << 8 | Int(rgba[index + 1] >> 4) << 4 | Int(rgba[index + 2] >> 4)
    }
}

/// A picture small enough for placeholders to be computed from all its pixels.
struct SmallPicture: Hashable, Sendable {
    /// The length of the longer edge in pixels, unless that leaves the shorter below ``shortestEdge``.
    static let longestEdge = 32
    /// The least length of the shorter edge in pixels. With fewer, the waves of ThumbHash and BlurHash could not be
    /// told apart and plain areas would become striped, so each pixel of a smaller picture is repeated.
    static let shortestEdge = 8

    let size: PixelSize
    /// Red, green, blue, alpha, row by row; not premultiplied. Fully transparent pixels are black.
    let rgba: [UInt8]
}

extension SmallPicture {
    /// Averages the source pixels behind each pixel, weighted by their alpha. The integer arithmetic gives the same
    /// result on every machine. `bands` is 1 (grey), 2 (grey with alpha), 3 (sRGB) or 4 (sRGB with alpha).
    init(averaging pixels: Span<UInt8>, of whole: PixelSize, bands: Int) {
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
                    let start = (row * whole.width + columns.lowerBound) * bands
                    sums.add(pixels.extracting(start..<start + columns.count * bands), bands)
                }
                sums.appendMean(of: rows.count * columns.count, to: &rgba)
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
    var red = 0
    var green = 0
    var blue = 0
    var alpha = 0

    /// Adds neighbouring pixels.
    mutating func add(_ pixels: Span<UInt8>, _ bands: Int) {
        let sums = pixels.withUnsafeBufferPointer { pixels in
            switch bands {
            case 1: Self.sums(of: pixels, stride: 1, green: 0, blue: 0, hasAlpha: false)
            case 2: Self.sums(of: pixels, stride: 2, green: 0, blue: 0, hasAlpha: true)
            case 3: Self.sums(of: pixels, stride: 3, green: 1, blue: 2, hasAlpha: false)
            default: Self.sums(of: pixels, stride: 4, green: 1, blue: 2, hasAlpha: true)
            }
        }
        red += sums.red
        green += sums.green
        blue += sums.blue
        alpha += sums.alpha
    }

    @inline(__always)
    private static func sums(
        of pixels: UnsafeBufferPointer<UInt8>,
        stride: Int,
        green: Int,
        blue: Int,
        hasAlpha: Bool
    ) -> Sums {
        var sums = Sums()
        var index = 0
        while index < pixels.count {
            let weight = hasAlpha ? Int(pixels[index &+ stride &- 1]) : 1
            sums.red &+= Int(pixels[index]) &* weight
            sums.green &+= Int(pixels[index &+ green]) &* weight
            sums.blue &+= Int(pixels[index &+ blue]) &* weight
            sums.alpha &+= weight
            index &+= stride
        }
        guard !hasAlpha else { return sums }
        return Sums(red: sums.red * 255, green: sums.green * 255, blue: sums.blue * 255, alpha: sums.alpha * 255)
    }

    func appendMean(of count: Int, to rgba: inout [UInt8]) {
        guard alpha > 0 else { return rgba.append(contentsOf: repeatElement(0, count: 4)) }
        rgba.append(UInt8((red + alpha / 2) / alpha))
        rgba.append(UInt8((green + alpha / 2) / alpha))
        rgba.append(UInt8((blue + alpha / 2) / alpha))
        rgba.append(UInt8((alpha + count / 2) / count))
    }
}
