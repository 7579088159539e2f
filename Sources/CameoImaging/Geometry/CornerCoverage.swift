internal import Glibc

/// The share of each pixel inside a rounded corner, as an exact area, so that the curve is as smooth as 8 bits allow.
package enum CornerCoverage {
    /// The mask of a rectangle's top left corner, 0 (outside) to 255, row by row, ``edge(radius:)`` pixels wide and
    /// high. The radius is in pixels and positive.
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

    /// The number of pixels that the curve touches on either axis.
    package static func edge(radius: Double) -> Int { Int(radius.rounded(.up)) }

    /// The share of a pixel that lies inside the circle, or beyond its centre, where the rectangle's straight edges
    /// begin. `x` and `y` are the distances of the pixel's outer sides from the centre.
    private static func share(radius: Double, x: Double, y: Double) -> Double {
        let (innerX, innerY) = (max(0, x - 1), max(0, y - 1))
        if x * x + y * y <= radius * radius { return 1 }
        if innerX * innerX + innerY * innerY >= radius * radius { return 0 }
        let curved = area(radius: radius, from: innerX, to: x, bottom: y - 1)
        // Everything beyond the centre is inside.
        return min(1, curved + max(0, 1 - x))
    }

    /// The integral of the curve's height above `bottom`, within a pixel's height.
    private static func area(radius: Double, from start: Double, to end: Double, bottom: Double) -> Double {
        /// The position at which the curve has that height.
        func crossing(_ height: Double) -> Double {
            height <= 0 ? radius : (max(0, radius * radius - height * height)).squareRoot()
        }
        let full = min(end, max(start, crossing(bottom + 1)))
        let empty = min(end, max(full, crossing(bottom)))
        let under = antiderivative(empty, radius) - antiderivative(full, radius)
        return (full - start) + under - bottom * (empty - full)
    }

    /// The antiderivative of √(r² − t²).
    private static func antiderivative(_ t: Double, _ radius: Double) -> Double {
        let height = max(0, radius * radius - t * t).squareRoot()
        return (t * height + radius * radius * asin(min(1, t / radius))) / 2
    }
}
