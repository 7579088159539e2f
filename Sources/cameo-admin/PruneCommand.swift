internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoSQLite
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove jobs that ended long ago and unreferenced blobs, as workers do by themselves.",
        discussion: """
            Uses small transactions, so that workers and producers go on. Thumbnails outlive their jobs and are kept \
            forever unless --keep thumbnails=… limits how long they may go unread; a thumbnail that an unfinished job \
            needs is kept too. A blob is removed an hour after the last thumbnail that refers to it. The database file \
            does not shrink, because its free pages are reused (`cameo-admin vacuum` returns them). \
            \(Duration.explanation)

            EXAMPLES
              cameo-admin prune --dry-run
              cameo-admin prune --keep completed=1d,discarded=forever
              cameo-admin prune --keep thumbnails=90d --dry-run

            EXIT CODES
              0 done, 1 another process prunes or copies the store, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var options: RetentionOptions

    @Flag(help: "Count what would be removed without removing it.")
    var dryRun = false

    @Flag(
        help:
            "Print JSON: {\"completed\":…,\"cancelled\":…,\"discarded\":…,\"thumbnails\":…,\"blobs\":…,\"blobBytes\":…,…}."
    )
    var json = false

    func run() async throws {
        if dryRun {
            let store = try storeOptions.openReading()
            try tell(try await store.prunable(options.retention), "would be removed")
        } else {
            let store = try storeOptions.open(creating: false)
            try tell(try await prune(store), "removed")
        }
    }

    private func prune(_ store: any OperatorStore) async throws -> Pruned {
        let prunable = try await store.prunable(options.retention)
        let total = prunable.jobs + prunable.thumbnails
        let bar = ProgressBar()
        var done = 0
        defer { bar.finish() }
        return try await store.maintained { turn in
            try await store.prune(options.retention, in: turn, pause: .zero) { step in
                done += step.jobs + step.thumbnails
                bar.show(done: done, of: max(total, done))
            }
        }
    }

    private func tell(_ pruned: Pruned, _ verb: String) throws {
        let text =
            "\(pruned.completed) completed, \(pruned.cancelled) cancelled and "
            + "\(AmountText.count(pruned.discarded, "discarded job")), "
            + "\(AmountText.count(pruned.thumbnails, "thumbnail")), "
            + "\(AmountText.count(pruned.sourceFailures, "remembered failure")), "
            + "\(AmountText.count(pruned.concurrencyKeys, "concurrency key")), "
            + "\(AmountText.count(pruned.queues, "queue")), \(AmountText.count(pruned.blobs, "blob")) of "
            + "\(AmountText.count(pruned.blobBytes, "byte")) \(verb)"
        try Output.answer(pruned, asJSON: json, [text])
    }
}

struct BlobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blobs",
        abstract: "Take over the bytes of another store, or name another place for them.",
        subcommands: [AdoptCommand.self, SetCommand.self]
    )
}

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Make this store keep large blobs in another bucket or shared folder.",
        discussion: """
            A store remembers the place that was named first. This command makes it remember the one that --blobs names, \
            after a blob was written, read and removed there. It is refused while workers are alive and once the store \
            has blobs in the old place. Other programs that have the store open, such as cameo-web, have to be started again.

            EXAMPLES
              cameo-admin blobs set --store postgres://pictures@db.example/pictures --blobs s3://pictures/cameo

            EXIT CODES
              0 done, 2 bad usage, 4 the store cannot be opened or has blobs in the old place, workers are alive, or the new \
            place cannot be used
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Print JSON: {\"before\":…,\"now\":…}; before is absent if no place was remembered.")
    var json = false

    func run() async throws {
        let (before, now) = try storeOptions.setPlace()
        var change = ["now": now]
        change["before"] = before
        let other = before.flatMap { $0 == now ? nil : " instead of \(TerminalText.escaped($0))" } ?? ""
        let text = "large blobs go to \(TerminalText.escaped(now))\(other)"
        try Output.answer(change, asJSON: json, [text])
    }
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
              cameo-admin blobs adopt --store postgres://pictures@db.example/pictures

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
        let text = others.map { "took \($0.location) over from \($0.owner)" } ?? "the bytes were this store's"
        var answer: [String: JSONValue] = ["adopted": .bool(others != nil)]
        answer["owner"] = others.map { JSONValue.string($0.owner) }
        try Output.answer(answer, asJSON: json, [text])
    }
}

struct VacuumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Return the database's free pages to the file system.",
        discussion: """
            Seldom needed, because new rows reuse free pages. Vacuuming rewrites the database, needs disk space for \
            two copies of the pages in use and blocks all other writers meanwhile, so it is refused while workers are \
            alive.

            EXAMPLES
              cameo-admin vacuum
              cameo-admin vacuum --while-workers-wait

            EXIT CODES
              0 done, 1 workers are alive, or another process prunes or copies the store, 2 bad usage, 4 the store \
            cannot be opened or written, or the disk is too full
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Go ahead while workers are alive; their claims and settlements wait until it is done.")
    var whileWorkersWait = false

    @Flag(help: "Print JSON: {\"before\":{\"bytes\":…,\"freeBytes\":…},\"after\":{…}}.")
    var json = false

    func run() async throws {
        let store = try storeOptions.openEmbedded(
            instead: "PostgreSQL's autovacuum frees space by itself, and its VACUUM (FULL) returns it to the system"
        )
        let live = try await (store as any ReaderStore).status().workers.filter(\.isAlive)
        guard live.isEmpty || whileWorkersWait else {
            throw CommandFailure(
                "\(AmountText.count(live.count, "worker")) would have to wait (\(live.map(\.id).joined(separator: " "))); stop them "
                    + "(`cameo-admin worker stop --all`) or add --while-workers-wait",
                .failed
            )
        }
        // SQLite then makes its copy here instead of in /var/tmp, so that only one disk needs the space.
        setenv("SQLITE_TMPDIR", store.location, 1)
        let (before, after) = try await store.maintained { turn in
            let before = try await store.databaseSize()
            try await store.vacuum(in: turn)
            return (before, try await store.databaseSize())
        }
        store.close()
        let free = "\(before.freeBytes) of them free"
        let text = "the database had \(AmountText.count(before.bytes, "byte")), \(free); it now has \(after.bytes)"
        try Output.answer(["before": before, "after": after], asJSON: json, [text])
    }
}

extension OperatorStore {
    /// Does the same as ``maintaining(within:_:)`` with the patience of a command, and says when it has to wait.
    func maintained<Value>(_ body: (MaintenanceTurn) async throws -> Value) async throws -> Value {
        if let value = try await maintaining(within: .seconds(1), body) { return value }
        Output.error("cameo-admin: waiting for another process that prunes or copies the store")
        if let value = try await maintaining(within: MaintenanceTurn.patience, body) { return value }
        throw CommandFailure("another process prunes or copies the store; try again", .failed)
    }
}
