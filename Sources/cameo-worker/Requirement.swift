internal import ArgumentParser

/// Refuses a number below its least, by the name of its option.
func require<Number: Comparable>(_ number: Number, atLeast least: Number, _ option: String) throws {
    guard number >= least else { throw ValidationError("\(option) \(number): must be at least \(least)") }
}
