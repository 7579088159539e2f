internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes thumbnails into a folder as SOURCE.RENDITION.EXT. Overwrites no picture.",
        discussion: """
            manifest.json in the folder says of each file of this and of earlier exports of which source it is, and under \
            which URI: [{"file":…,"source":…,"uri":…}]. Goes on when a thumbnail cannot be read or its name is taken, and \
            names it.

            EXAMPLES
              cameo-status export thumbnails --batch holiday
              cameo-status export all --json

            EXIT CODES
              0 done, 1 one could not be read or written, or there is no such batch, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The folder; made if it is missing.", completion: .directory)
    var directory: String

    @Option(help: ArgumentHelp("Only this batch. (default: all)", valueName: "label"))
    var batch: String?

    @Flag(help: "Prints {\"written\":…,\"kept\":…,\"skipped\":[…],\"unreadable\":[…]}: file names, and URIs.")
    var json = false

    func run() async throws {
        let store = try storeOptions.openReading()
        let summary = try await export(from: store)
        if json {
            try Output.message(summary)
        } else {
            let kept = summary.kept > 0 ? ", \(summary.kept) there already" : ""
            let written = AmountText.count(summary.written, "thumbnail")
            Output.line("\(written) written to \(TerminalText.escaped(directory))\(kept)")
            for name in summary.skipped {
                Output.error("cameo-status: \(TerminalText.escaped(name)) exists; not overwritten")
            }
        }
        if !summary.skipped.isEmpty || !summary.unreadable.isEmpty { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private struct Summary: Encodable {
        let written: Int
        let kept: Int
        let skipped: [String]
        let unreadable: [String]
    }

    private func export(from store: any Store) async throws -> Summary {
        if let batch { _ = try await store.batch(batch) }
        do {
            var export = try Export(to: directory, from: store)
            try await ThumbnailListing(store: store, batch: batch).forEach { try await export.write($0) }
            try export.finish()
            Output.errors(of: export.unreadable)
            return Summary(
                written: export.written,
                kept: export.kept,
                skipped: export.skipped,
                unreadable: export.unreadable.map(\.thumbnail.uri.text)
            )
        } catch let error as ExportError {
            throw CommandFailure(error.description, .failed)
        }
    }
}
