internal import ArgumentParser

/// Whether a command waits until what it is asked about, or does, has ended, and for how long.
package struct WaitOptions: ParsableArguments {
    @Flag(help: "Waits until all has ended.")
    package var wait = false

    @Option(help: ArgumentHelp("With --wait: for at most so long, as 90s or 10m, then exit 3.", valueName: "duration"))
    var waitTimeout: DurationArgument?

    package init() {}

    /// Nil: for ever.
    package var timeout: Duration? { waitTimeout?.duration }

    package func validate() throws {
        guard waitTimeout == nil || wait else { throw ValidationError("--wait-timeout needs --wait") }
    }
}
