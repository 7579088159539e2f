internal import ArgumentParser
internal import CameoStore

/// Jobs that may start within a time, or `none`.
struct RateLimit: ExpressibleByArgument {
    /// Nil: as many as there is room for.
    let rate: StartRate?

    static let help = ArgumentHelp(
        "Jobs of it that may start within a time, as 10/s, 300/m or 5/30s, or none.",
        valueName: "rate"
    )

    init?(argument: String) {
        rate = StartRate(argument)
        guard argument == "none" || rate != nil else { return nil }
    }
}
