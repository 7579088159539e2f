internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoSQLite
internal import CameoStore
internal import CameoSystem
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
        let bar = ProgressBar()
        defer { bar.finish() }
        let report = try await store.maintained { turn in
            try await store.backUp(to: directory, in: turn) { bar.show($0) }
        }
        let text =
            "\(AmountText.count(report.jobs, "job")), \(AmountText.count(report.blobs, "blob")), "
            + "\(AmountText.count(report.bytes, "byte")) in \(FilePaths.absolute(directory))"
        try Output.answer(report, asJSON: json, [text])
        guard report.damaged.isEmpty else {
            throw CommandFailure(
                "the copy lacks \(AmountText.count(report.damaged.count, "damaged blob")) of the store, the first of them "
                    + "\(report.damaged[0]); run `cameo-admin check --repair`",
                .failed
            )
        }
    }
}

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
            let advice = "a database is restored by PostgreSQL's pg_restore, a bucket by its versions or replication"
            throw CommandFailure(advice, .usage)
        }
        let bar = ProgressBar()
        defer { bar.finish() }
        let report = try await SQLiteStore.restore(directory, to: storeOptions.path) { bar.show($0) }
        let note = report.note.map { ", taken of \($0.store) at \($0.takenAt.formatted(.iso8601))" } ?? ""
        let content =
            "\(AmountText.count(report.content.jobs, "job")), \(AmountText.count(report.content.blobs, "blob")) in "
            + "\(FilePaths.absolute(storeOptions.path))\(note)"
        let aside = report.aside.map { "the store of before is in \($0)" }
        try Output.answer(report, asJSON: json, [content, aside].compactMap { $0 })
        guard report.content.damaged.isEmpty else {
            throw CommandFailure(
                "the backup lacks \(AmountText.count(report.content.damaged.count, "blob")), the first of them "
                    + "\(report.content.damaged[0]); run `cameo-admin check --repair`",
                .failed
            )
        }
    }
}

extension ProgressBar {
    /// Shows bytes in MiB.
    func show(_ progress: ByteProgress) {
        show(done: progress.done >> 20, of: progress.total >> 20, note: "MiB")
    }
}
