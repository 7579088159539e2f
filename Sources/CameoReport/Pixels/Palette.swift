/// A few colours that stand for all of a picture's.
///
/// They are found by cuts: of all groups of colours, the one whose colours differ most is divided at its mean, until there are
/// enough groups. A group's mean stands for its colours.
struct Palette {
    /// Red, green and blue, each from 0 to `levels`.
    typealias Color = SIMD3<Double>

    let colors: [Color]
    private let levels: Int
    private let indices: [Int: Int]

    /// At most `limit` colours for the pixels that are not transparent.
    init(of picture: Pixels, limit: Int, levels: Int) {
        var counts: [Int: Int] = [:]
        for start in stride(from: 0, to: picture.bytes.count, by: 4) {
            guard let key = Self.key(picture.bytes, start, levels) else { continue }
            counts[key, default: 0] += 1
        }
        // In a fixed order, so that a picture always has the same palette.
        let shades = counts.sorted { $0.key < $1.key }.map { key, count in
            Shade(key: key, color: Color(Double(key >> 16), Double(key >> 8 & 0xFF), Double(key & 0xFF)), count: count)
        }
        var groups = shades.isEmpty ? [] : [Group(shades)]
        while groups.count < limit,
            let widest = groups.indices.max(by: { groups[$0].spread < groups[$1].spread }),
            groups[widest].spread > 0
        {
            let (lower, upper) = groups[widest].halves
            groups[widest] = lower
            groups.append(upper)
        }
        colors = groups.map(\.mean)
        indices = groups.enumerated().reduce(into: [:]) { indices, group in
            for shade in group.element.shades { indices[shade.key] = group.offset }
        }
        self.levels = levels
    }

    /// The index of the colour that stands for the pixel whose bytes start here; nil if the pixel is transparent.
    func index(_ bytes: [UInt8], _ start: Int) -> Int? { Self.key(bytes, start, levels).flatMap { indices[$0] } }

    private static func key(_ bytes: [UInt8], _ start: Int, _ levels: Int) -> Int? {
        guard bytes[start + 3] >= 128 else { return nil }
        func level(_ byte: UInt8) -> Int { (Int(byte) * levels + 127) / 255 }
        return level(bytes[start]) << 16 | level(bytes[start + 1]) << 8 | level(bytes[start + 2])
    }

    private struct Shade {
        let key: Int
        let color: Color
        let count: Int
    }

    private struct Group {
        let shades: [Shade]
        let mean: Color
        /// The channel that varies most, and the sum of the squares of its differences from the mean.
        let channel: Int
        let spread: Double

        init(_ shades: [Shade]) {
            self.shades = shades
            let pixels = shades.reduce(0) { $0 + Double($1.count) }
            let mean = shades.reduce(Color.zero) { $0 + $1.color * Double($1.count) } / pixels
            let spreads = shades.reduce(Color.zero) { sum, shade in
                let difference = shade.color - mean
                return sum + difference * difference * Double(shade.count)
            }
            let channel = (0..<3).max { spreads[$0] < spreads[$1] } ?? 0
            self.mean = mean
            self.channel = channel
            // What one colour varies is an error of rounding.
            spread = shades.count > 1 ? spreads[channel] : 0
        }

        var halves: (Group, Group) {
            let lower = shades.filter { $0.color[channel] <= mean[channel] }
            let upper = shades.filter { $0.color[channel] > mean[channel] }
            return (Group(lower), Group(upper))
        }
    }
}
