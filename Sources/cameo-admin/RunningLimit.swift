internal import ArgumentParser

/// A number of jobs that may run at once, or `none`.
struct RunningLimit: ExpressibleByArgument {
    /// Nil: no limit.
    let limit: Int?

    init?(argument: String) {
        limit = Int(argument)
        guard argument == "none" || limit != nil else { return nil }
    }
}
