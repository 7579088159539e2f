internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct SnoozeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snooze",
        abstract: "Delay waiting jobs.",
        discussion: """
            Jobs that run or have ended are left alone. A new request for the same thumbnails ends the delay. \
            \(DurationArgument.explanation)

            EXAMPLES
              cameo-admin snooze 17 18 --for 10m
              cameo-admin snooze 17 --until 2030-01-31T12:00:00Z --json

            EXIT CODES
              0 done, 1 a job does not exist, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The ids of jobs.")
    var id: [Int64]

    @Option(
        name: .customLong("for"),
        parsing: .unconditional,
        help: ArgumentHelp("Delay by this time from now (10m, 2h, 1d; at most 36500d).", valueName: "duration")
    )
    var duration: DurationArgument?

    @Option(help: ArgumentHelp("Delay until this time (2030-01-31T12:00:00Z).", valueName: "time"))
    var until: String?

    @Flag(help: "Print each job after the change as JSON, one per line.")
    var json = false

    func validate() throws {
        guard (duration == nil) != (until == nil) else { throw ValidationError("give --for or --until") }
        if let until, WireFormat.date(from: until) == nil {
            throw ValidationError("--until \(until): must be a time such as 2030-01-31T12:00:00Z")
        }
    }

    func run() async throws {
        let store = try storeOptions.open(creating: false)
        let length = duration?.seconds ?? 0
        let time = until.flatMap(WireFormat.date(from:)) ?? Date.now.addingTimeInterval(length)
        try await store.changeEach(id, answering: json ? .json : .text) { id in
            let before = try await store.snooze(id, until: time)
            return before.isFinal || before == .running
                ? "job \(id) is \(before.rawValue): only a waiting job can be snoozed"
                : "job \(id) was \(before.rawValue), is scheduled for \(WireFormat.text(of: time))"
        }
    }
}
