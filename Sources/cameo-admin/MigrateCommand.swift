internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Move the store to another place: from a folder to a database, and back.",
        discussion: """
            Everything moves: jobs with their ids, states, attempts and history, batches, thumbnails, the cache of \
            sources, the settings of queues and keys, receipts of idempotency keys, deliveries of hooks, the change feed \
            with its numbers, and all bytes, each compared with its digest. At the end the records of both stores are \
            read and compared.

            Stop the workers first. From the beginning on the store is closed: programs and SQL that enqueue are refused \
            with the name of the new place, and nothing is lost between the two. It can still be read. Interrupted, the \
            command goes on where it was if it is given again. --cancel gives the move up: the store is open again, and \
            what has arrived at the new place stays closed and is to be removed. After the end the old store stays as it \
            is, closed; remove it when you no longer need it. The same command moves a database into a new folder.

            --blobs says where a database keeps large pictures, whichever of the two it is.

            EXAMPLES
              cameo-admin worker stop --all --wait
              cameo-admin migrate --to postgres://cameo@db.example/pictures --blobs s3://bucket/cameo
              cameo-admin migrate --to postgres://cameo@db.example/pictures --verify-only
              cameo-admin migrate --store postgres://cameo@db.example/pictures --to /srv/cameo-store
              cameo-admin migrate --cancel

            EXIT CODES
              0 done, 1 workers are alive, or the stores differ, 2 bad usage, 4 a store cannot be opened or written, or \
            holds something else
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(
        help: ArgumentHelp(
            "The new place: a folder or, in a build for fleets, postgres://user@host/database. Nothing may be there yet.",
            valueName: "place"
        ),
        completion: .directory
    )
    var to: String?

    @Flag(help: "Give up a move: reopen the store.")
    var cancel = false

    @Flag(help: "Change nothing: compare the records of both stores, and read all bytes at the new place.")
    var verifyOnly = false

    @Flag(
        help: """
            Print JSON: {"from":…,"to":…,"wasBegun":…,"records":{"job":…,…},"bytes":…,"seconds":…,"different":[…],\
            "damaged":[…]}; with --cancel {"from":…,"to":…}.
            """
    )
    var json = false

    func validate() throws {
        guard (to != nil) != cancel else { throw ValidationError("name the new place with --to, or give --cancel") }
        guard !(cancel && verifyOnly) else { throw ValidationError("--cancel and --verify-only exclude each other") }
        guard to?.isEmpty != true else { throw ValidationError("--to: must name a place, but is empty") }
    }

    func run() async throws {
        let source = try storeOptions.openMoving(to: to)
        guard let to else { return try await giveUp(source) }
        if !verifyOnly { try await refuseWorkers(of: source) }
        let destination = try storeOptions.openDestination(to, creating: !verifyOnly)
        guard source.location != destination.location else {
            throw ValidationError("--to: \(destination.location) is the store itself")
        }
        let started = ContinuousClock.now
        let move = Move(from: source, to: destination)
        let report = try await followed { show in
            verifyOnly ? try await move.verify(report: show) : try await move.run(report: show)
        }
        source.close()
        destination.close()
        let line = Line(report, source.location, destination.location, started.duration(to: .now))
        try tell(report, line)
    }

    private func giveUp(_ source: any Move.Party) async throws {
        let move = try await source.cancelMove()
        source.close()
        guard !json else { return try Output.message(["from": source.location, "to": move.place]) }
        Output.line("the store at \(source.location) is open again")
        Output.error(
            move.isEnded
                ? "cameo-admin: what \(move.place) has done since the move is not in it"
                : "cameo-admin: what has arrived at \(move.place) stays closed; remove it"
        )
    }

    private func refuseWorkers(of source: any Move.Party) async throws {
        let live = try await source.status().workers.filter(\.isAlive)
        guard !live.isEmpty else { return }
        throw CommandFailure(
            "\(AmountText.count(live.count, "worker")) must stop first (\(live.map(\.id).joined(separator: " "))): "
                + "`cameo-admin worker stop --all --wait`",
            .failed
        )
    }

    private func followed(
        _ work: (_ show: (MoveProgress) -> Void) async throws -> MoveReport
    ) async throws -> MoveReport {
        var bar = ProgressBar()
        defer { bar.finish() }
        return try await work { progress in
            let step =
                switch progress.step {
                case .copying(let kind): "\(kind)"
                case .comparing(let kind): "comparing \(kind)"
                case .reading: "reading"
                }
            let note = progress.bytes > 0 ? "\(step), \(AmountText.bytes(progress.bytes))" : step
            bar.show(done: progress.done, of: max(progress.done, progress.total), note: note)
        }
    }

    private func tell(_ report: MoveReport, _ line: Line) throws {
        if json {
            try Output.message(line)
        } else if report.sums.isEmpty {
            Output.line("\(line.from) had moved to \(line.to) before")
        } else if report.isGood {
            Output.line(
                "\(AmountText.count(line.records.values.reduce(0, +), "record")) "
                    + "(\(AmountText.count(line.records["job"] ?? 0, "job")), "
                    + "\(AmountText.count(line.records["thumbnail"] ?? 0, "thumbnail")), "
                    + "\(AmountText.bytes(report.bytes))) \(verifyOnly ? "are the same in" : "moved to") \(line.to) in "
                    + AmountText.duration(line.seconds)
            )
        }
        guard !report.isGood else { return }
        let differences = report.differences.map { kind, source, destination in
            "\(kind): \(source.count) records (\(source.digest.prefix(12))…) in \(line.from), \(destination.count) "
                + "(\(destination.digest.prefix(12))…) in \(line.to)"
        }
        throw CommandFailure(
            differences + report.damaged.map { "the bytes of \($0) in \(line.to) are damaged" },
            .failed
        )
    }

    private struct Line: Encodable {
        let from, to: String
        let wasBegun: Bool
        let records: [String: Int]
        let bytes: Int
        let seconds: Double
        let different, damaged: [String]

        init(_ report: MoveReport, _ source: String, _ destination: String, _ time: Duration) {
            (from, to) = (source, destination)
            wasBegun = report.wasBegun
            records = Dictionary(uniqueKeysWithValues: report.sums.map { ("\($0)", $1.count) })
            bytes = report.bytes
            seconds = time.seconds
            different = report.differences.map { "\($0.kind)" }
            damaged = report.damaged
        }
    }
}
