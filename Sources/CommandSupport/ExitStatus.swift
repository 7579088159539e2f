/// What a command's exit code says. Scripts may rely on it.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    /// A job failed, or something asked for was not there.
    case failed = 1
    case usage = 2
    /// Not finished in the time that was given.
    case timedOut = 3
    /// The store cannot be opened or written.
    case store = 4
}

/// An error that a command explains in one line before it exits.
package struct CommandFailure: Error {
    package let message: String
    package let status: ExitStatus

    package init(_ message: String, _ status: ExitStatus) {
        self.message = message
        self.status = status
    }
}
