internal import Glibc

/// How much of each pixel lies inside a round corner: the exact area, so that the curve is as smooth as 8 bits allow.
package enum CornerCoverage {
    /// The left upper corner of a rectangle, 0 (outside) to 255, row by row; as wide and high as ``edge(radius:)``. The
    /// radius is in pixels, more than 0.
    package static func mask(radius: Double) -> [UInt8] {
        let edge = edge(radius: radius)
        var mask = [UInt8](repeating: 255, count: edge * edge)
        for row in 0..<edge {
            for column in 0..<edge {
                let share = share(radius: radius, x: radius - Double(column), y: radius - Double(row))
                mask[row * edge + column] = UInt8((share * 255).rounded())
            }
        }
        return mask
    }

    /// Pixels that the curve touches, on either axis.
    package static func edge(radius: Double) -> Int { Int(radius.rounded(.up)) }

    /// The share of a pixel that lies in the circle, or beyond its middle, where the rectangle's straight edges begin.
    /// `x` and `y` say how far the pixel's outer sides lie from the middle, outwards.
    private static func share(radius: Double, x: Double, y: Double) -> Double {
        let (innerX, innerY) = (max(0, x - 1), max(0, y - 1))
        if x * x + y * y <= radius * radius { return 1 }
        if innerX * innerX + innerY * innerY >= radius * radius { return 0 }
        let curved = area(radius: radius, from: innerX, to: x, bottom: y - 1)
        // What lies beyond the middle is inside.
        return min(1, curved + max(0, 1 - x))
    }

    /// The integral of the curve's height above `bottom`, within a pixel's height.
    private static func area(radius: Double, from start: Double, to end: Double, bottom: Double) -> Double {
        /// Where the curve is at that height.
        func crossing(_ height: Double) -> Double {
            height <= 0 ? radius : (max(0, radius * radius - height * height)).squareRoot()
        }
        let full = min(end, max(start, crossing(bottom + 1)))
        let empty = min(end, max(full, crossing(bottom)))
        let under = antiderivative(empty, radius) - antiderivative(full, radius)
        return (full - start) + under - bottom * (empty - full)
    }

    /// Of √(r² − t²).
    private static func antiderivative(_ t: Double, _ radius: Double) -> Double {
        let height = max(0, radius * radius - t * t).squareRoot()
        return (t * height + radius * radius * asin(min(1, t / radius))) / 2
    }
}
