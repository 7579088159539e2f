internal import ArgumentParser
internal import CameoStore

/// The number of jobs that may start within a time, or `none`.
struct RateLimit: ExpressibleByArgument {
    /// The rate, or nil for no limit.
    let rate: StartRate?

    static let help = ArgumentHelp(
        "Jobs that may start within a time (10/s, 300/m, 5/30s), or none for no limit.",
        valueName: "rate"
    )

    init?(argument: String) {
        rate = StartRate(argument)
        guard argument == "none" || rate != nil else { return nil }
    }
}
