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
        abstract: "Copies the store, as it is at this moment, while workers and producers go on.",
        discussion: """
            The copy is a store: its database, and every blob that the database names, checked against its digest; jobs that \
            ran wait in it, uncharged. Nothing of it is a link. It appears under its name when all of it is on the disk; one \
            that is broken off leaves at most a folder DIR.partial-…, to be removed. Nothing is pruned meanwhile.

            EXAMPLES
              cameo-admin backup /backups/cameo-monday
              cameo-admin backup /backups/cameo-monday && cameo-admin check --store /backups/cameo-monday

            EXIT CODES
              0 done, 1 blobs of the store are damaged (the copy lacks them), or another process prunes or copies the store, \
            2 bad usage, 4 the store cannot be read or the copy cannot be written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The copy's folder: not there yet, or empty.", completion: .directory)
    var directory: String

    @Flag(help: "Prints {\"jobs\":…,\"blobs\":…,\"bytes\":…,\"damaged\":[…]}.")
    var json = false

    func run() async throws {
        let store = try storeOptions.openEmbedded()
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
                "blobs of the store are damaged, and the copy lacks them: \(report.damaged.count), the first of them "
                    + "\(report.damaged[0]); `cameo-admin check --repair` says more",
                .failed
            )
        }
    }
}
