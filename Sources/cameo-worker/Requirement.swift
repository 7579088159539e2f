internal import ArgumentParser
internal import CommandSupport

/// Refuses a number out of its range, naming the option.
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

/// Refuses a duration that is too short, naming the option.
func require(_ time: DurationArgument, atLeast least: Duration, _ option: String) throws {
    guard time.duration >= least else {
        throw ValidationError("\(option) \(time.duration.argument): must be at least \(least.argument)")
    }
}

/// Refuses a size that is too small, or too large for any machine, naming the option.
func require(_ size: ByteCount, atLeast least: ByteCount, _ option: String) throws {
    let most = ByteCount(1 << 40)
    guard size >= least, size <= most else {
        throw ValidationError("\(option) \(size): must be between \(least) and \(most)")
    }
}
