public import ArgumentParser
public import CameoModel
internal import CameoStore
internal import CommandSupport

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Print every change of a job's state in commit order, one job-change (JSON) per line.",
        discussion: """
            Each change has a cursor. A reader that remembers the last cursor passes it to --since the next time and misses \
            nothing, as long as the store keeps its history (cameo-worker --keep). If changes have been \
            removed already, a message on standard error says which. The ends of batches have no cursor: after --since, some \
            may come again, which their ids tell.

            EXAMPLES
              cameo-status events
              cameo-status events --follow --state completed
              cameo-status events --follow --ends | grep '"batch":"album"'
              cameo-status events --follow --since 4711

            EXIT CODES
              0 done, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(
        help: """
            Only changes after this one. (default: all that are kept; with --follow, only new ones)
            """.taking("cursor")
    )
    var since: Int64?

    @Flag(help: "Waits for further changes until it is stopped.")
    var follow = false

    @Flag(help: "Print the ends of sealed batches too, as batch-end (JSON), one per line.")
    var ends = false

    @Option(
        help: "Only changes to this state. Repeatable.".taking("state"),
        completion: .list(JobState.allCases.map(\.rawValue))
    )
    var state: [JobState] = []

    func validate() throws {
        if let since, since < 0 { throw ValidationError("--since \(since): must not be negative") }
    }

    func run() async throws {
        let store = try storeOptions.openReading()
        var cursor = try await start(in: store)
        let isFromNow = follow && since == nil
        var watch = ends ? try await BatchEndWatch(store, after: isFromNow ? nil : cursor) : nil
        while true {
            // Read before the changes, so that a commit in between is seen twice rather than missed.
            let version = try await store.version()
            while case let page = try await store.changes(since: cursor, limit: Self.page), page.next != cursor {
                cursor = page.next
                let changes = page.changes.filter { state.isEmpty || state.contains($0.state) }
                for change in changes { try Output.message(change) }
            }
            for end in try await watch?.next() ?? [] { try Output.message(end) }
            guard follow else { return }
            try await Task.sleep(for: Self.pause)
            // What has no cursor need not change the version.
            while try await store.version() == version, !ends { try await Task.sleep(for: Self.pause) }
        }
    }

    private func start(in store: any ReaderStore) async throws -> FeedCursor {
        guard let since else { return follow ? try await store.changes(since: nil, limit: 0).next : FeedCursor(0) }
        let page = try await store.changes(since: FeedCursor(since), limit: 1)
        guard let gap = page.gap else { return FeedCursor(since) }
        let reason =
            gap.upperBound == since
            ? "the last change is \(gap.lowerBound - 1), not \(since): the store was restored, or is another one"
            : "the changes \(gap.lowerBound) to \(gap.upperBound) are no longer kept"
        Output.error("cameo-status: \(reason)")
        return page.start
    }

    /// The time between two looks, so that a busy store costs at most ten a second.
    private static let pause = Duration.milliseconds(100)
    /// Changes read at once.
    private static let page = 1_000
}

extension JobState: ExpressibleByArgument {}
