internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct CatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Writes the bytes that a cameo: URI names to standard output or a file.",
        discussion: """
            EXAMPLES
              cameo-status cat cameo://thumb/0123456789abcdef0123456789abcdef > thumbnail.webp
              cameo-status cat cameo://source/https%3A%2F%2Fexample.com%2Fcat.jpg --output cat.jpg

            EXIT CODES
              0 done, 1 nothing is there, or its bytes are damaged, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "cameo://thumb/…, cameo://blob/sha256-… or cameo://source/…")
    var uri: String

    @Option(name: .shortAndLong, help: ArgumentHelp("Writes into this file, which must not exist.", valueName: "file"))
    var output: String?

    func run() async throws {
        guard let name = CameoURI(uri) else { throw CommandFailure("\(uri) is not a cameo: URI", .usage) }
        if output == nil, Output.outputIsTerminal {
            throw CommandFailure("a picture would garble the terminal: redirect it, or use --output FILE", .usage)
        }
        let data = try await storeOptions.openReading().data(of: name)
        guard let output else { return Output.bytes(data) }
        do {
            try data.write(to: URL(filePath: output), options: .withoutOverwriting)
        } catch {
            throw CommandFailure("cannot write \(output): \(error.localizedDescription)", .failed)
        }
    }
}

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes thumbnails into a folder as SOURCE.RENDITION.EXT. Overwrites nothing.",
        discussion: """
            Goes on when one cannot be read or its name is taken, and names it.

            EXAMPLES
              cameo-status export thumbnails --batch holiday
              cameo-status export all --json

            EXIT CODES
              0 done, 1 one could not be read or written, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The folder; made if it is missing.")
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
            let kept = summary.kept > 0 ? ", \(summary.kept) were there already" : ""
            Output.line("\(summary.written) thumbnails written to \(TerminalText.escaped(directory))\(kept)")
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
        do {
            var export = try Export(to: directory, from: store)
            defer { export.finish() }
            try await ThumbnailListing(store: store, batch: batch).forEach { try await export.write($0) }
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

struct SheetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sheet",
        abstract: "Writes a contact sheet: one HTML file with the thumbnails inside.",
        discussion: """
            A thumbnail that cannot be read has a tile that says so.

            EXAMPLES
              cameo-status sheet holiday.html --batch holiday

            EXIT CODES
              0 done, 1 one could not be read, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The HTML file, replaced if it exists; - for standard output.")
    var file: String

    @Option(help: ArgumentHelp("Only this batch. (default: all)", valueName: "label"))
    var batch: String?

    @Flag(help: "Prints {\"file\":…,\"unreadable\":[…]}: the file's path, and URIs.")
    var json = false

    private struct Summary: Encodable {
        let file: String
        let unreadable: [String]
    }

    func validate() throws {
        guard file != "-" || !json else { throw ValidationError("--json: the sheet itself goes to standard output") }
    }

    func run() async throws {
        let store = try storeOptions.openReading()
        var sheet = ContactSheet(store: store)
        try await ThumbnailListing(store: store, batch: batch).forEachJob { await sheet.add($0) }
        Output.errors(of: sheet.unreadable)
        do {
            let html = sheet.html(title: batch ?? "Cameo")
            if file == "-" {
                Output.bytes(html)
            } else {
                try ReportFile.write(html, to: file, store: store)
                try tell(
                    Summary(file: FilePaths.absolute(file), unreadable: sheet.unreadable.map(\.thumbnail.uri.text))
                )
            }
        } catch let error as ExportError {
            throw CommandFailure(error.description, .failed)
        }
        if !sheet.unreadable.isEmpty { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func tell(_ summary: Summary) throws {
        if json { try Output.message(summary) } else { Output.line(summary.file) }
    }
}

extension Output {
    fileprivate static func errors(of thumbnails: [UnreadableThumbnail]) {
        for thumbnail in thumbnails { error("cameo-status: \(TerminalText.escaped(thumbnail.description))") }
    }
}
