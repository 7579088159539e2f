internal import ArgumentParser
internal import CommandSupport

/// Whether a command shows what is, or what has become of it in the end.
struct WaitOptions: ParsableArguments {
    @Flag(help: "Waits until all has ended.")
    var wait = false

    @Option(help: ArgumentHelp("With --wait: for at most so long, as 90s or 10m, then exit 3.", valueName: "duration"))
    var timeout: DurationArgument?

    func validate() throws {
        guard timeout == nil || wait else { throw ValidationError("--timeout needs --wait") }
    }
}
