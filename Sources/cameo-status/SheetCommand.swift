internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct SheetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sheet",
        abstract: "Write a contact sheet: one HTML file with the thumbnails embedded.",
        discussion: """
            Thumbnails that cannot be read are shown as placeholders.

            EXAMPLES
              cameo-status sheet holiday.html --batch holiday

            EXIT CODES
              0 done, 1 a thumbnail could not be read, or there is no such batch, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The file, replaced if it exists; - for standard output.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Only thumbnails of this batch. (default: all)", valueName: "label"))
    var batch: String?

    @Flag(help: "Print JSON: {\"file\":…,\"unreadable\":[…]}, with the file's path and URIs.")
    var json = false

    private struct Summary: Encodable {
        let file: String
        let unreadable: [String]
    }

    func validate() throws {
        guard file != "-" || !json else {
            throw ValidationError("--json needs a file, because - writes the sheet itself")
        }
    }

    func run() async throws {
        let store = try storeOptions.openReading()
        if let batch { _ = try await store.batch(batch) }
        let (sheet, unreadable) = try await html(from: store)
        Output.errors(of: unreadable)
        do {
            if file == "-" {
                Output.bytes(sheet)
            } else {
                try ReportFile.write(sheet, to: file, store: store)
                try tell(Summary(file: FilePaths.absolute(file), unreadable: unreadable.map(\.thumbnail.uri.text)))
            }
        } catch let error as ExportError {
            throw CommandFailure(error.description, .failed)
        }
        if !unreadable.isEmpty { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func html(from store: any Store) async throws -> (Data, [UnreadableThumbnail]) {
        var sheet = ContactSheet(store: store)
        try await ThumbnailListing(store: store, batch: batch).forEachJob { await sheet.add($0) }
        return (sheet.html(title: batch ?? "Cameo"), sheet.unreadable)
    }

    private func tell(_ summary: Summary) throws {
        if json { try Output.message(summary) } else { Output.line(summary.file) }
    }
}
