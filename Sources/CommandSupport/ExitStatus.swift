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

/// What a command explains, a line for each thing that is wrong, before it exits. A command line that is written wrong is
/// a `ValidationError`, which has the usage behind it.
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
