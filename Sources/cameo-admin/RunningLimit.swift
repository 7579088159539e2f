internal import ArgumentParser

/// The number of jobs that may run at once, or `none`.
struct RunningLimit: ExpressibleByArgument {
    /// The number, or nil for no limit.
    let limit: Int?

    init?(argument: String) {
        limit = Int(argument)
        guard argument == "none" || limit != nil else { return nil }
    }
}
