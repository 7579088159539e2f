internal import ArgumentParser
internal import CameoModel
import CameoQueue
internal import CameoReport
internal import CameoSQLite
internal import CameoStore
internal import CommandSupport
internal import Foundation

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

    private struct Result: Encodable {
        let before: DatabaseSize
        let after: DatabaseSize
    }

    func run() async throws {
        let store = try storeOptions.openEmbedded(
            instead: "PostgreSQL's autovacuum frees space by itself, and its VACUUM (FULL) returns it to the system"
        )
        let live = try await store.status().workers.filter(\.isAlive)
        guard live.isEmpty || whileWorkersWait else {
            throw CommandFailure(
                "\(AmountText.count(live.count, "worker")) would have to wait (\(live.map(\.id).joined(separator: " "))); stop them "
                    + "(`cameo-admin worker stop --all`) or add --while-workers-wait",
                .failed
            )
        }
        let turn = try await MaintenanceTurn.ofCommand(in: store)
        // SQLite then makes its copy here instead of in /var/tmp, so that only one disk needs the space.
        setenv("SQLITE_TMPDIR", store.location, 1)
        let before = try await store.databaseSize()
        try await store.vacuum(in: turn)
        let after = try await store.databaseSize()
        store.close()
        if json {
            try Output.message(Result(before: before, after: after))
        } else {
            Output.line(
                "the database had \(AmountText.count(before.bytes, "byte")), \(before.freeBytes) of them free; it now has "
                    + "\(after.bytes)"
            )
        }
    }
}
