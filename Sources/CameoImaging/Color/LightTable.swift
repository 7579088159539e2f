/// A function of 0…1 as a table, one entry for each whole number from 0 up to the largest.
enum LightTable {
    /// The largest number of 16 bits.
    static let finest = 65_535

    static func numbers(of largest: Int, _ function: (Double) -> Double) -> [Float] {
        (0...largest).map { Float(function(Double($0) / Double(largest))) }
    }

    /// The function's results, 0…1, as 0…255.
    static func bytes(of largest: Int, _ function: (Double) -> Double) -> [UInt8] {
        (0...largest).map { UInt8((min(1, max(0, function(Double($0) / Double(largest)))) * 255).rounded()) }
    }
}
