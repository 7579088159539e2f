/// A function on 0…1 as a lookup table, with one entry for each integer from 0 to the largest.
enum LightTable {
    /// The largest 16-bit integer.
    static let finest = 65_535

    static func numbers(of largest: Int, _ function: (Double) -> Double) -> [Float] {
        (0...largest).map { Float(function(Double($0) / Double(largest))) }
    }

    /// The function's results, 0…1, scaled to 0…255.
    static func bytes(of largest: Int, _ function: (Double) -> Double) -> [UInt8] {
        (0...largest).map { UInt8((min(1, max(0, function(Double($0) / Double(largest)))) * 255).rounded()) }
    }
}
