internal import CameoModel
internal import Glibc

/// The discrete cosine transform of small pictures, by precomputed tables.
struct CosineTransform {
    /// A channel as its mean and the waves around it.
    struct Channel: Hashable {
        let mean: Double
        /// The largest amplitude of a wave.
        let scale: Double
        /// Amplitudes by ascending frequency, row by row, scaled from 0 (−scale) to 1 (scale).
        let shares: [Double]
    }

    /// Smaller amplitudes are rounding noise of the sums.
    private static let smallestAmplitude = 1e-9

    private let size: PixelSize
    /// Cosines indexed by frequency, then by position.
    private let horizontal: [[Double]]
    private let vertical: [[Double]]

    /// Prepares seven waves on either axis, the most that ThumbHash uses.
    init(_ size: PixelSize) {
        self.size = size
        horizontal = Self.waves(of: size.width)
        vertical = Self.waves(of: size.height)
    }

    private static func waves(of edge: Int) -> [[Double]] {
        (0..<7).map { frequency in
            (0..<edge).map { cos(Double.pi / Double(edge) * Double(frequency) * (Double($0) + 0.5)) }
        }
    }

    /// Transforms a channel into the triangle of low frequencies, `across` waves wide and `down` high.
    func channel(_ channel: [Double], across: Int, down: Int) -> Channel {
        var mean = 0.0
        var amplitudes: [Double] = []
        for row in 0..<down {
            var column = 0
            while column * down < across * (down - row) {
                let amplitude = amplitude(of: channel, horizontal[column], vertical[row])
                if row == 0, column == 0 { mean = amplitude } else { amplitudes.append(amplitude) }
                column += 1
            }
        }
        let scale = amplitudes.reduce(0) { max($0, abs($1)) }
        guard scale >= Self.smallestAmplitude else {
            return Channel(mean: mean, scale: 0, shares: amplitudes.map { _ in 0 })
        }
        return Channel(mean: mean, scale: scale, shares: amplitudes.map { 0.5 + 0.5 / scale * $0 })
    }

    private func amplitude(of channel: [Double], _ horizontal: [Double], _ vertical: [Double]) -> Double {
        var sum = 0.0
        channel.withUnsafeBufferPointer { channel in
            for y in 0..<size.height {
                let start = y * size.width
                for x in 0..<size.width { sum += channel[start + x] * horizontal[x] * vertical[y] }
            }
        }
        return sum / Double(size.pixels)
    }
}
