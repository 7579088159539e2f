/// The time limits of one transfer.
package struct TransferLimits: Hashable, Sendable {
    /// For the connection, including TLS.
    package var connect: Duration
    /// A transfer that moves fewer than ``lowSpeed`` bytes a second for so long has stalled, whichever side it waits for.
    /// libcurl takes the mean of some seconds, and so up to six seconds longer.
    package var stall: Duration
    package var lowSpeed = 1_024
    /// For the whole transfer, in addition to the time that its bytes take at ``slowest``.
    package var overhead: Duration
    /// The speed in bytes a second below which a large transfer is given up.
    package var slowest = 262_144

    package init(
        connect: Duration = .seconds(5),
        stall: Duration = .seconds(15),
        overhead: Duration = .seconds(30)
    ) {
        (self.connect, self.stall, self.overhead) = (connect, stall, overhead)
    }

    /// The limit for a transfer of so many bytes.
    func total(for bytes: Int) -> Duration { overhead + .seconds(bytes / max(1, slowest)) }
}
