extension Duration {
    /// Whole milliseconds, rounded down.
    package var milliseconds: Int { Int(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000) }

    /// Seconds, including the fraction.
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
