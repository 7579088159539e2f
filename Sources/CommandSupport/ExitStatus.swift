/// The exit codes of the commands, on which scripts may rely.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    /// A job failed, or something requested does not exist.
    case failed = 1
    case usage = 2
    /// The work did not finish in the given time.
    case timedOut = 3
    /// The store cannot be opened or written.
    case store = 4
}

/// An error that a command reports before it exits, one line per fault. A malformed command line is a `ValidationError`
/// instead, which is reported with the usage.
package struct CommandFailure: Error {
    package let messages: [String]
    package let status: ExitStatus

    package init(_ message: String, _ status: ExitStatus) {
        self.init([message], status)
    }

    package init(_ messages: [String], _ status: ExitStatus) {
        self.messages = messages
        self.status = status
    }
}
