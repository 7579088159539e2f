import CameoModel
import TestSupport

/// Pixels to look at: red, green, blue and alpha, 0…255 each, whatever they were stored as.
struct Picture: Sendable {
    let width: Int
    let height: Int
    /// Four numbers a pixel.
    private(set) var numbers: [Float]

    private init(width: Int, height: Int, numbers: [Float]) {
        (self.width, self.height, self.numbers) = (width, height, numbers)
    }

    /// - Parameters:
    ///   - file: grey or sRGB, 0…255 a band.
    ///   - frame: which of its frames, from 0.
    ///   - frames: how many stand below one another.
    ///   - isPremultiplied: then the colours are divided by alpha, as the file's colours were multiplied by it.
    init(_ file: PixelFile, frame: Int = 0, frames: Int = 1, isPremultiplied: Bool = false) {
        let (width, height, bands) = (file.width, file.height / frames, file.bands)
        var numbers = [Float](repeating: 255, count: width * height * 4)
        file.samples.withUnsafeBytes { samples in
            for pixel in 0..<width * height {
                let start = (frame * width * height + pixel) * bands
                func band(_ index: Int) -> Float {
                    if file.number == .float {
                        return samples.loadUnaligned(fromByteOffset: (start + index) * 4, as: Float.self)
                    }
                    return Float(samples[start + index])
                }
                // A Lanczos resize overshoots.
                let alpha = bands == 2 || bands == 4 ? min(255, max(0, band(bands - 1))) : 255
                numbers[pixel * 4 + 3] = alpha
                for color in 0..<3 {
                    let value = band(bands < 3 ? 0 : color)
                    let whole = isPremultiplied ? (alpha > 0 ? value * 255 / alpha : 0) : value
                    numbers[pixel * 4 + color] = min(255, max(0, whole.rounded()))
                }
            }
        }
        self.init(width: width, height: height, numbers: numbers)
    }

    func pixel(_ x: Int, _ y: Int) -> (color: [Double], alpha: Double) {
        let start = (y * width + x) * 4
        return ((0..<3).map { Double(numbers[start + $0]) }, Double(numbers[start + 3]))
    }

    func cropped(left: Int, top: Int, width: Int, height: Int) -> Picture {
        var cut: [Float] = []
        cut.reserveCapacity(width * height * 4)
        for row in top..<top + height {
            let start = (row * self.width + left) * 4
            cut.append(contentsOf: numbers[start..<start + width * 4])
        }
        return Picture(width: width, height: height, numbers: cut)
    }

    func padded(left: Int, top: Int, width: Int, height: Int, with color: Color) -> Picture {
        let filling = [Float(color.red), Float(color.green), Float(color.blue), Float(color.alpha)]
        var canvas: [Float] = []
        canvas.reserveCapacity(width * height * 4)
        for _ in 0..<width * height { canvas.append(contentsOf: filling) }
        for row in 0..<self.height {
            let (from, to) = (row * self.width * 4, ((top + row) * width + left) * 4)
            canvas.replaceSubrange(to..<to + self.width * 4, with: numbers[from..<from + self.width * 4])
        }
        return Picture(width: width, height: height, numbers: canvas)
    }

    /// Seen on a colour.
    func on(_ color: Color) -> Picture {
        var seen = self
        let ground = [Float(color.red), Float(color.green), Float(color.blue)]
        for pixel in 0..<width * height {
            let alpha = numbers[pixel * 4 + 3] / 255
            guard alpha < 1 else { continue }
            for band in 0..<3 {
                seen.numbers[pixel * 4 + band] = numbers[pixel * 4 + band] * alpha + ground[band] * (1 - alpha)
            }
            seen.numbers[pixel * 4 + 3] = 255
        }
        return seen
    }
}
