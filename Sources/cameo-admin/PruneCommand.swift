internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove jobs that ended long ago and unreferenced blobs, as workers do by themselves.",
        discussion: """
            Uses small transactions, so that workers and producers go on. Thumbnails outlive their jobs and are kept \
            forever unless --keep-thumbnails limits how long they may go unread; a thumbnail that an unfinished job \
            needs is kept too. A blob is removed an hour after the last thumbnail that refers to it. The database file \
            does not shrink, because its free pages are reused (`cameo-admin vacuum` returns them). \
            \(DurationArgument.explanation)

            EXAMPLES
              cameo-admin prune --dry-run
              cameo-admin prune --keep-completed 1d --keep-discarded forever
              cameo-admin prune --keep-thumbnails 90d --dry-run

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
            try tell(try await prune(), "removed")
        }
    }

    private func prune() async throws -> Pruned {
        let store = try storeOptions.open(creating: false)
        let pruned: Result<Pruned, any Error>
        do { pruned = .success(try await prune(store)) } catch { pruned = .failure(error) }
        // Gives the maintenance lock back.
        await store.finish()
        return try pruned.get()
    }

    private func prune(_ store: any Store) async throws -> Pruned {
        let turn = try await MaintenanceTurn.ofCommand(in: store)
        let prunable = try await store.prunable(options.retention)
        let total = prunable.jobs + prunable.thumbnails
        var (bar, done) = (ProgressBar(), 0)
        defer { bar.finish() }
        return try await store.prune(options.retention, in: turn, pause: .zero) { step in
            done += step.jobs + step.thumbnails
            bar.show(done: done, of: max(total, done))
        }
    }

    private func tell(_ pruned: Pruned, _ verb: String) throws {
        guard !json else { return try Output.message(pruned) }
        Output.line(
            "\(pruned.completed) completed, \(pruned.cancelled) cancelled and "
                + "\(AmountText.count(pruned.discarded, "discarded job")), "
                + "\(AmountText.count(pruned.thumbnails, "thumbnail")), "
                + "\(AmountText.count(pruned.sourceFailures, "remembered failure")), "
                + "\(AmountText.count(pruned.concurrencyKeys, "concurrency key")), "
                + "\(AmountText.count(pruned.queues, "queue")), \(AmountText.count(pruned.blobs, "blob")) of "
                + "\(AmountText.count(pruned.blobBytes, "byte")) \(verb)"
        )
    }
}
