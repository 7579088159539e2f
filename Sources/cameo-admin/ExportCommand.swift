internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation
internal import Synchronization

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all of the store to standard output, for `cameo-admin import` or as a backup.",
        discussion: """
            Writes lines of JSON, one for each record, with the bytes of pictures between them: jobs with their ids, \
            states, attempts and history, batches, thumbnails, the cache of sources, the settings of queues and keys, \
            receipts of idempotency keys, deliveries of hooks, and the change feed with its numbers. It is the same for \
            every engine, is of one moment, and ends with a digest. Jobs that run wait in it, and their last attempt \
            does not count. Workers, downloads that have begun, and what other programs keep in the store are not in it.

            Workers and producers may go on, but what they do later is not in it: to move, stop the workers, and let \
            nothing enqueue until the import has ended. Nothing is pruned meanwhile.

            EXAMPLES
              cameo-admin export --store /srv/cameo | zstd > cameo-monday.zst
              cameo-admin export /srv/cameo | cameo-admin import postgres://cameo@db.example/pictures
              cameo-admin export /srv/cameo | ssh other cameo-admin import /srv/cameo

            EXIT CODES
              0 done, 1 bytes in the store are damaged, the output cannot be written, or another process prunes or copies \
            the store, 2 bad usage, 4 the store cannot be read
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The store, instead of --store.", completion: .directory)
    var name: String?

    func validate() throws {
        guard !Output.outputIsTerminal else {
            throw ValidationError("refusing to write an export to a terminal: redirect it, or pipe it to an import")
        }
    }

    func run() async throws {
        let store = try storeOptions.named(name).openExportable(creating: false)
        let turn = try await MaintenanceTurn.ofCommand(in: store)
        let progress = TransferProgress()
        let summary = try await StoreExport(of: store).write(at: Date(), to: { Output.bytes($0) }) { progress.show($0) }
        withExtendedLifetime(turn) {}
        progress.finish()
        Output.error("cameo-admin: exported \(TransferProgress.text(summary)) of \(store.location)")
    }
}

/// The line on a terminal that says how far an export or import has come.
final class TransferProgress: Sendable {
    private struct State {
        let started = ContinuousClock.now
        var drawn: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let isShown = Output.errorIsTerminal

    func show(_ summary: ExportSummary) {
        let isDue = state.withLock { state in
            guard isShown, state.started.duration(to: .now) > .seconds(2),
                state.drawn.map({ $0.duration(to: .now) > .milliseconds(200) }) ?? true
            else { return false }
            state.drawn = .now
            return true
        }
        if isDue { Output.drawStatusLine("\(summary.kind.rawValue): \(Self.text(summary))") }
    }

    func finish() {
        if state.withLock({ $0.drawn != nil }) { Output.endStatusLine() }
    }

    static func text(_ summary: ExportSummary) -> String {
        "\(AmountText.count(summary.records, "record")) "
            + "(\(AmountText.count(summary.sums[.job]?.count ?? 0, "job")), "
            + "\(AmountText.count(summary.sums[.thumbnail]?.count ?? 0, "thumbnail")), \(AmountText.bytes(summary.bytes)))"
    }
}
