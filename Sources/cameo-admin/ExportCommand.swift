internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

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
              cameo-admin export /srv/cameo | cameo-admin import postgres://pictures@db.example/pictures
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
        let store = try storeOptions.named(name).open(creating: false)
        let line = StatusLine()
        let summary = try await store.maintained { _ in
            try await StoreExport(of: store).write(at: Date(), to: { Output.bytes($0) }) { line.show($0) }
        }
        line.finish()
        Output.error("cameo-admin: exported \(summary.text) of \(store.location)")
    }
}

extension StatusLine {
    /// Shows how far an export or import has come.
    fileprivate func show(_ summary: ExportSummary) { show("\(summary.kind.rawValue): \(summary.text)") }
}

extension ExportSummary {
    fileprivate var text: String {
        "\(AmountText.count(records, "record")) (\(AmountText.count(sums[.job]?.count ?? 0, "job")), "
            + "\(AmountText.count(sums[.thumbnail]?.count ?? 0, "thumbnail")), \(AmountText.bytes(bytes)))"
    }
}

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Read what `cameo-admin export` wrote from standard input into a store.",
        discussion: """
            Makes the store if there is none. Ids, URIs and times stay as they are. Records are stored as they come, and \
            bytes before the records that name them; broken off, give it the same export from its beginning again, and \
            it passes over what is there. At its end the digest of the export is checked, and the records in the store \
            are read and compared with it. Start no worker before that.

            A store that has jobs or pictures of its own is refused. --add adds what is not there: records whose ids are \
            taken stay as they are, so use it only for a store that an earlier export of the same store made.

            EXAMPLES
              zstd -dc cameo-monday.zst | cameo-admin import --store /srv/cameo
              cameo-admin export /srv/cameo | cameo-admin import postgres://pictures@db.example/pictures --blobs s3://bucket/cameo

            EXIT CODES
              0 done, 1 the export is damaged or incomplete, or the store has other records at the end, 2 bad usage, 4 the \
            store cannot be opened or written, has records of its own, or has living workers
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The store, instead of --store.", completion: .directory)
    var name: String?

    @Flag(help: "Add what is not there to a store that has jobs or pictures.")
    var add = false

    @Flag(
        help: """
            Print JSON: {"store":…,"wasBegun":…,"records":{"job":{"count":…,"digest":…},…},"bytes":…,"different":[…]}; \
            the digests are the same for the same records in every engine.
            """
    )
    var json = false

    func run() async throws {
        let store = try storeOptions.named(name).open()
        let line = StatusLine()
        var stream = StoreImport(into: store) { count in try InputFile.part(of: STDIN_FILENO, atMost: count) }
        let result: StoreImport.Result
        do throws(StoreError) {
            defer { line.finish() }
            result = try await stream.run(isAddition: add) { line.show($0) }
        } catch {
            guard case .refused(let reason) = error else { throw error }
            throw CommandFailure(reason, .failed)
        }
        await store.finish()
        let different = result.differences.map(\.rawValue)
        if json {
            let records = result.summary.sums.map { kind, sum in
                (kind.rawValue, ["count": .integer(Int64(sum.count)), "digest": .string(sum.digest)] as JSONValue)
            }
            let message: JSONValue = [
                "store": .string(store.location), "wasBegun": .bool(result.wasBegun),
                "records": .object(Dictionary(uniqueKeysWithValues: records)),
                "bytes": .integer(Int64(result.summary.bytes)), "different": .array(different.map(JSONValue.string)),
            ]
            try Output.message(message)
        } else if different.isEmpty {
            Output.line("imported \(result.summary.text) into \(store.location)")
        }
        guard different.isEmpty else {
            let reason = "has other records than the export: \(different.joined(separator: ", "))"
            throw CommandFailure("\(store.location) \(reason)", .failed)
        }
    }
}
