internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoSQLite
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct VacuumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Gives the free pages of the database back to the disk.",
        discussion: """
            Seldom needed: new rows take free pages first. It writes the database anew, needs room for two more copies of what \
            is in use, and every other writer waits for as long, so it refuses while workers live, unless told otherwise.

            EXAMPLES
              cameo-admin vacuum
              cameo-admin vacuum --while-workers-wait

            EXIT CODES
              0 done, 1 workers live, or another process prunes or copies the store, 2 bad usage, 4 the store cannot be \
            opened or written, or the disk has no room
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Goes ahead beside live workers, whose claims and settlements wait until it is done.")
    var whileWorkersWait = false

    @Flag(help: "Prints {\"before\":{\"bytes\":…,\"freeBytes\":…},\"after\":{…}}.")
    var json = false

    private struct Result: Encodable {
        let before: DatabaseSize
        let after: DatabaseSize
    }

    func run() async throws {
        let store = try storeOptions.openEmbedded()
        let live = try await store.status().workers.filter(\.isAlive)
        guard live.isEmpty || whileWorkersWait else {
            throw CommandFailure(
                "\(AmountText.count(live.count, "worker")) would have to wait (\(live.map(\.id).joined(separator: " "))); stop them "
                    + "(`cameo-admin worker stop --all`), or say --while-workers-wait",
                .failed
            )
        }
        let turn = try await MaintenanceTurn.ofCommand(in: store)
        // SQLite makes its copy there instead of in /var/tmp, so that one disk has to have the room.
        setenv("SQLITE_TMPDIR", store.location, 1)
        let before = try await store.databaseSize()
        try await store.vacuum(in: turn)
        let after = try await store.databaseSize()
        store.close()
        if json {
            try Output.message(Result(before: before, after: after))
        } else {
            Output.line(
                "the database had \(AmountText.count(before.bytes, "byte")), \(before.freeBytes) of them free; it has "
                    + "\(after.bytes)"
            )
        }
    }
}
