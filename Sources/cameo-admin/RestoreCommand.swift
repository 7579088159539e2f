internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoSQLite
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of the store.",
        discussion: """
            The copy is made beside the store, opened and checked; then the store's folder becomes \
            DIR.before-TIME, and the copy takes its place, with its owner and access. The backup is only read. No program \
            may have either open: stop the workers first. A store that is damaged or gone is replaced like any other.

            EXAMPLES
              cameo-admin restore /backups/cameo-monday
              cameo-admin restore /backups/cameo-monday --store /srv/cameo-of-monday

            EXIT CODES
              0 done, 1 done, but blobs are damaged or missing in the backup, 2 bad usage, 4 a program uses the store, the \
            backup's database is damaged, or the copy cannot be written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The folder of the backup.", completion: .directory)
    var directory: String

    @Flag(
        help: "Print JSON: {\"content\":{…},\"note\":{\"store\":…,\"takenAt\":…},\"aside\":…}, with what backup prints."
    )
    var json = false

    func run() async throws {
        guard !storeOptions.path.contains("://") else {
            throw CommandFailure(
                "a database is restored by PostgreSQL's pg_restore, a bucket by its versions or replication",
                .usage
            )
        }
        let bar = ByteProgressBar()
        defer { bar.finish() }
        let report = try await SQLiteStore.restore(directory, to: storeOptions.path) { bar.show($0) }
        if json {
            try Output.message(report)
        } else {
            let note = report.note.map { ", taken of \($0.store) at \($0.takenAt.formatted(.iso8601))" } ?? ""
            Output.line(
                "\(AmountText.count(report.content.jobs, "job")), \(AmountText.count(report.content.blobs, "blob")) in "
                    + "\(FilePaths.absolute(storeOptions.path))\(note)"
            )
            if let aside = report.aside { Output.line("the store of before is in \(aside)") }
        }
        guard report.content.damaged.isEmpty else {
            throw CommandFailure(
                "the backup lacks \(AmountText.count(report.content.damaged.count, "blob")), the first of them "
                    + "\(report.content.damaged[0]); run `cameo-admin check --repair`",
                .failed
            )
        }
    }
}
