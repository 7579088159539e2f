internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

struct WorkerStopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Ends workers from outside: they claim nothing more, and exit with 0.",
        discussion: """
            Through the store, so that it needs neither the worker's machine nor its user. A worker sees it within a second. \
            Under a service manager that restarts whatever ends, stop it there instead. \(DurationArgument.explanation)

            EXAMPLES
              cameo-admin worker stop w1900000000-4242-1f2e3d4c
              cameo-admin worker stop --all --now --wait --wait-timeout 1m
              cameo-admin worker stop --all --json

            EXIT CODES
              0 done, 1 there is no such worker, 2 bad usage, 3 with --wait: not ended in time, 4 the store cannot be opened \
            or written
            """
    )

    enum Mode: EnumerableFlag {
        case drain, now

        var stop: WorkerStop { self == .now ? .now : .drain }

        static func help(for value: Mode) -> ArgumentHelp? {
            value == .drain
                ? "Finishes the jobs that it has begun, however long they take."
                : "Gives the jobs that it has begun back at once, uncharged."
        }
    }

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "Ids of workers, as `worker list` shows them.", completion: .workers)
    var id: [String] = []

    @Flag(help: "All workers that live.")
    var all = false

    @Flag(exclusivity: .exclusive)
    var mode = Mode.drain

    @OptionGroup var waiting: WaitOptions

    @Flag(help: "Prints one worker that was asked a line, as the workers of a status-report (JSON).")
    var json = false

    func validate() throws {
        guard id.isEmpty == all else { throw ValidationError("name workers by their ids, or --all") }
    }

    func run() async throws {
        let store = try storeOptions.open(creating: false)
        let ids = all ? try await store.status().workers.filter(\.isAlive).map(\.id) : id
        var missing = 0
        for id in ids {
            do {
                try tell(try await store.stopWorker(id, mode.stop))
            } catch let error as StoreError where error == .noSuch(.worker, id) {
                if all { continue }  // it has ended by itself since they were listed
                Output.error("cameo-admin: \(TerminalText.escaped(error.description))")
                missing += 1
            }
        }
        if waiting.wait { try await untilEnded(ids, in: store) }
        if missing > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func tell(_ worker: StatusReport.Worker) throws {
        guard !json else { return try Output.message(worker) }
        let ending =
            // By what the store says: a drain does not overrule an earlier now.
            switch worker.stopping {
            case _ where !worker.isAlive: "has died already; another takes its jobs back"
            case .drain, nil: "finishes what it runs and ends"
            case .now: "gives back what it runs and ends"
            }
        Output.line("worker \(worker.id) \(ending)")
    }

    private func untilEnded(_ ids: [String], in store: any Store) async throws {
        let started = ContinuousClock.now
        while true {
            let live = Set(try await store.status().workers.filter(\.isAlive).map(\.id))
            if live.isDisjoint(with: ids) { return }
            if let timeout = waiting.timeout, started.duration(to: .now) >= timeout {
                throw CommandFailure("not ended within \(timeout.argument)", .timedOut)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
