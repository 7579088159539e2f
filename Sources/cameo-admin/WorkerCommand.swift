internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

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
            try Output.answer(worker, asJSON: json, [WorkerText.line(worker, escape: TerminalText.escaped)])
        }
    }
}

struct WorkerStopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop workers through the store; they claim no more jobs and exit with 0.",
        discussion: """
            Works from any machine and user that can write the store; a worker reacts within a second. If a service \
            manager restarts workers, stop them there instead. \(Duration.explanation)

            EXAMPLES
              cameo-admin worker stop w1900000000-4242-1f2e3d4c
              cameo-admin worker stop --all --now --wait --wait-timeout 1m
              cameo-admin worker stop --all --json

            EXIT CODES
              0 done, 1 a worker does not exist, 2 bad usage, 3 with --wait: not ended in time, 4 the store cannot be \
            opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The ids of workers, as listed by `worker list`.", completion: .workers)
    var id: [String] = []

    @Flag(help: "Stop all living workers.")
    var all = false

    @Flag(
        help: """
            Return the running jobs to the queue at once, without an attempt that counts, and do not let them finish first, \
            however long they take.
            """
    )
    var now = false

    @OptionGroup var waiting: WaitOptions

    @Flag(help: "Print each stopped worker as JSON, one per line, as in a status-report.")
    var json = false

    func validate() throws {
        guard id.isEmpty == all else { throw ValidationError("name workers by their ids, or give --all") }
    }

    func run() async throws {
        let store = try storeOptions.open(creating: false)
        let ids = all ? try await store.status().workers.filter(\.isAlive).map(\.id) : id
        var missing = 0
        for id in ids {
            do {
                try tell(try await store.stopWorker(id, now ? .now : .drain))
            } catch let error as StoreError where error == .noSuch(.worker, id) {
                if all { continue }  // it ended by itself after the list was read
                Output.error("cameo-admin: \(TerminalText.escaped(error.description))")
                missing += 1
            }
        }
        if waiting.wait { try await untilEnded(ids, in: store) }
        if missing > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func tell(_ worker: StatusReport.Worker) throws {
        let ending =
            // The store decides: a drain does not override an earlier now.
            switch worker.stopping {
            case _ where !worker.isAlive: "has already died; another worker takes its jobs back"
            case .drain, nil: "finishes its running jobs and ends"
            case .now: "returns its running jobs and ends"
            }
        try Output.answer(worker, asJSON: json, ["worker \(worker.id) \(ending)"])
    }

    private func untilEnded(_ ids: [String], in store: any ReaderStore) async throws {
        let started = ContinuousClock.now
        while true {
            let live = Set(try await store.status().workers.filter(\.isAlive).map(\.id))
            if live.isDisjoint(with: ids) { return }
            if let timeout = waiting.waitTimeout, started.duration(to: .now) >= timeout {
                throw CommandFailure("not ended within \(timeout.argument)", .timedOut)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
