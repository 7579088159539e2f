internal import ArgumentParser

/// Whether, and for how long, a command waits for jobs or workers to end.
package struct WaitOptions: ParsableArguments {
    @Flag(help: "Wait until all of them have ended.")
    package var wait = false

    @Option(help: ArgumentHelp("With --wait: give up after this time (90s, 10m) and exit 3.", valueName: "duration"))
    var waitTimeout: DurationArgument?

    package init() {}

    /// The longest wait, or nil for no limit.
    package var timeout: Duration? { waitTimeout?.duration }

    package func validate() throws {
        guard waitTimeout == nil || wait else { throw ValidationError("--wait-timeout needs --wait") }
    }
}
