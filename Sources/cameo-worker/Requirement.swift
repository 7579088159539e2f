internal import ArgumentParser

/// Refuses a number out of its range, by the name of its option.
func require<Number: Comparable & ExpressibleByIntegerLiteral>(
    _ number: Number,
    atLeast least: Number,
    atMost most: Number = 1_000_000_000,
    _ option: String
) throws {
    guard number >= least, number <= most else {
        throw ValidationError("\(option) \(number): must be between \(least) and \(most)")
    }
}
