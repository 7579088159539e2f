internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoSQLite
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the store as it is now, while workers and producers go on.",
        discussion: """
            The copy is a complete store without links: the database and every blob it refers to, checked against its \
            digest. Jobs that were running wait in the copy, and their attempts do not count. The copy appears under \
            its name once it is durable on disk; an interrupted one leaves at most a folder DIR.partial-…, which can \
            be removed. Nothing is pruned meanwhile.

            EXAMPLES
              cameo-admin backup /backups/cameo-monday
              cameo-admin backup /backups/cameo-monday && cameo-admin check --store /backups/cameo-monday

            EXIT CODES
              0 done, 1 blobs of the store are damaged (the copy lacks them), or another process prunes or copies the \
            store, 2 bad usage, 4 the store cannot be read or the copy cannot be written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The folder of the copy; it must not exist or must be empty.", completion: .directory)
    var directory: String

    @Flag(help: "Print JSON: {\"jobs\":…,\"blobs\":…,\"bytes\":…,\"damaged\":[…]}.")
    var json = false

    func run() async throws {
        let store = try storeOptions.openEmbedded(
            instead:
                "a database is copied by PostgreSQL's pg_dump or pg_basebackup, a bucket by its versions or replication"
        )
        let turn = try await MaintenanceTurn.ofCommand(in: store)
        let bar = ByteProgressBar()
        defer { bar.finish() }
        let report = try await store.backUp(to: directory, in: turn) { bar.show($0) }
        if json {
            try Output.message(report)
        } else {
            Output.line(
                "\(AmountText.count(report.jobs, "job")), \(AmountText.count(report.blobs, "blob")), "
                    + "\(AmountText.count(report.bytes, "byte")) in \(FilePaths.absolute(directory))"
            )
        }
        guard report.damaged.isEmpty else {
            throw CommandFailure(
                "the copy lacks \(AmountText.count(report.damaged.count, "damaged blob")) of the store, the first of them "
                    + "\(report.damaged[0]); run `cameo-admin check --repair`",
                .failed
            )
        }
    }
}
