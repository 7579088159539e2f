internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

@main
struct CameoAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cameo-admin",
        abstract: "Change jobs and queues, remove cached originals, and maintain the store.",
        discussion: """
            EXAMPLES
              cameo-admin retry 17 18
              cameo-admin retry --state discarded --code source.timeout
              cameo-admin cancel 19
              cameo-admin forget https://example.com/picture.png
              cameo-admin snooze 20 --for 10m
              cameo-admin limit --key example.com --max-running 8
              cameo-admin pause imports
              cameo-admin worker stop --all
              cameo-admin hooks retry --all
              cameo-admin backfill --preset gallery --dry-run
              cameo-admin backup /backups/cameo-monday
              cameo-admin export | cameo-admin import postgres://cameo@db.example/pictures --blobs s3://bucket/cameo
              cameo-admin check

            EXIT CODES
              0 done, 1 something named does not exist, or a check failed, 2 bad usage, 4 the store cannot be opened
            """,
        version: CameoVersion.current,
        subcommands: [
            RetryCommand.self, CancelCommand.self, SnoozeCommand.self, LimitCommand.self, PauseCommand.self,
            ResumeCommand.self, QueueCommand.self, WorkerCommand.self, PruneCommand.self, VacuumCommand.self,
            BackfillCommand.self, BackupCommand.self, ExportCommand.self, ImportCommand.self,
            ForgetCommand.self, HooksCommand.self, BlobsCommand.self, CheckCommand.self,
        ]
    )

    static func main() async {
        await CommandMain.run(Self.self)
    }
}

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel jobs. A running job is stopped and leaves no thumbnails.",
        discussion: """
            A selection matches all unfinished jobs, unless --state says otherwise, and is changed in small \
            transactions that do not block others.

            EXAMPLES
              cameo-admin cancel 19
              cameo-admin cancel --batch holiday
              cameo-admin cancel --state retryable --code source.unreachable --dry-run

            EXIT CODES
              0 done, 1 a job does not exist, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var jobs: ChosenJobs

    func run() async throws {
        try await jobs.change(by: .cancel, done: "cancelled") { store, id in
            let before = try await store.cancel(id)
            return before.isFinal ? "job \(id) had already ended: \(before.rawValue)" : "job \(id) is cancelled"
        }
    }
}

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Make jobs available again, with all their attempts.",
        discussion: """
            Earlier attempts stay in the history (`cameo-status job ID`). A selection matches discarded jobs only, \
            unless --state says otherwise, and is changed in small transactions that do not block others.

            EXAMPLES
              cameo-admin retry 17 18
              cameo-admin retry --state discarded --code source.timeout
              cameo-admin retry --code source.httpStatus --source https://shop.example/ --limit 1000 --dry-run

            EXIT CODES
              0 done, 1 a job does not exist, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var jobs: ChosenJobs

    func run() async throws {
        try await jobs.change(by: .retry, done: "available again") { store, id in
            let retried = try await store.retry(id)
            let before = retried.before
            if case .superseded(let duplicate) = retried.settlement {
                return "job \(id) was \(before.rawValue), is cancelled: job \(duplicate) waits for the same thumbnails"
            }
            return BulkChange.retry.applies(to: before)
                ? "job \(id) was \(before.rawValue), is available" : "job \(id) is already \(before.rawValue)"
        }
    }
}

struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "List the workers of a store, or stop them.",
        subcommands: [WorkerListCommand.self, WorkerStopCommand.self],
        defaultSubcommand: WorkerListCommand.self
    )
}

struct WorkerListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the workers and their running jobs. (default)",
        discussion: """
            EXAMPLES
              cameo-admin worker list
              cameo-admin worker list --json

            EXIT CODES
              0 done, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Print each worker as JSON, one per line, as in a status-report.")
    var json = false

    func run() async throws {
        for worker in try await storeOptions.openReading().status().workers {
            if json {
                try Output.message(worker)
            } else {
                Output.line(WorkerText.line(worker, escape: TerminalText.escaped))
            }
        }
    }
}

struct BlobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blobs",
        abstract: "Take over the bytes of another store.",
        subcommands: [AdoptCommand.self]
    )
}

struct AdoptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Make this store the owner of the bucket or shared folder that it keeps large blobs in.",
        discussion: """
            A bucket or shared folder has the mark of one store. A store that was restored from a dump, or whose server \
            was upgraded by pg_upgrade, has another mark: it reads the bytes there, keeps new ones in its own rows, and \
            removes none. This command leaves its mark in the other's place. Do it only if the other store is gone: from \
            then on it only reads, and what it needs is removed by this one's `cameo-admin check --repair`.

            EXAMPLES
              cameo-admin blobs adopt --store postgres://cameo@db.example/pictures

            EXIT CODES
              0 the bytes are this store's, 2 bad usage, 4 the store cannot be opened or has no bytes outside
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Print JSON: {\"adopted\":…,\"owner\":…}; owner is the other store's mark, if it was not this one's.")
    var json = false

    func run() async throws {
        let store = try storeOptions.open(creating: false)
        let others = try await store.adoptBytes()
        await store.finish()
        if json {
            try Output.message(Adoption(adopted: others != nil, owner: others?.owner))
        } else {
            Output.line(others.map { "took \($0.location) over from \($0.owner)" } ?? "the bytes were this store's")
        }
    }

    private struct Adoption: Encodable {
        let adopted: Bool
        let owner: String?
    }
}

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
