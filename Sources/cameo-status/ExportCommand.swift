internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CameoSystem
internal import CommandSupport
internal import Foundation

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write thumbnails into a folder as SOURCE.RENDITION.EXT, without overwriting pictures.",
        discussion: """
            manifest.json in the folder lists every file of this and earlier exports with its source and URI: \
            [{"file":…,"source":…,"uri":…}]. Thumbnails that cannot be read, or whose file name is taken, are reported \
            and skipped.

            EXAMPLES
              cameo-status export thumbnails --batch holiday
              cameo-status export all --json

            EXIT CODES
              0 done, 1 a thumbnail was skipped, or there is no such batch, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The folder; created if it does not exist.", completion: .directory)
    var directory: String

    @Option(help: "Only thumbnails of this batch. (default: all)".taking("label"))
    var batch: String?

    @Flag(help: "Print JSON: {\"written\":…,\"kept\":…,\"skipped\":[…],\"unreadable\":[…]}, with file names and URIs.")
    var json = false

    func run() async throws {
        let store = try storeOptions.openReading()
        if let batch { _ = try await store.batch(batch) }
        var export = try Export(to: directory, from: store)
        try await store.forEachJob(JobFilter(batch: batch)) { job in
            for thumbnail in job.thumbnails { try await export.write(thumbnail, of: job) }
        }
        try export.finish()
        Output.errors(of: export.unreadable)
        if json {
            let message: JSONValue = [
                "written": .integer(Int64(export.written)), "kept": .integer(Int64(export.kept)),
                "skipped": .array(export.skipped.map(JSONValue.string)),
                "unreadable": .array(export.unreadable.map { .string($0.thumbnail.uri.text) }),
            ]
            try Output.message(message)
        } else {
            let kept = export.kept > 0 ? ", \(export.kept) already there" : ""
            let written = AmountText.count(export.written, "thumbnail")
            Output.line("\(written) written to \(TerminalText.escaped(directory))\(kept)")
            for name in export.skipped {
                Output.error("cameo-status: \(TerminalText.escaped(name)) exists; not overwritten")
            }
        }
        if !export.skipped.isEmpty || !export.unreadable.isEmpty { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}

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

    @Option(help: "Only thumbnails of this batch. (default: all)".taking("label"))
    var batch: String?

    @Flag(help: "Print JSON: {\"file\":…,\"unreadable\":[…]}, with the file's path and URIs.")
    var json = false

    func validate() throws {
        guard file != "-" || !json else {
            throw ValidationError("--json needs a file, because - writes the sheet itself")
        }
    }

    func run() async throws {
        let store = try storeOptions.openReading()
        if let batch { _ = try await store.batch(batch) }
        var sheet = ContactSheet(store: store)
        try await store.forEachJob(JobFilter(batch: batch)) { await sheet.add($0) }
        let (html, unreadable) = (sheet.html(title: batch ?? "Cameo"), sheet.unreadable)
        Output.errors(of: unreadable)
        if file == "-" {
            Output.bytes(html)
        } else {
            try ReportFile.write(html, to: file, store: store)
            let path = FilePaths.absolute(file)
            let uris = unreadable.map { JSONValue.string($0.thumbnail.uri.text) }
            try Output.answer(["file": .string(path), "unreadable": .array(uris)] as JSONValue, asJSON: json, [path])
        }
        if !unreadable.isEmpty { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}

extension Output {
    static func errors(of thumbnails: [UnreadableThumbnail]) {
        for thumbnail in thumbnails { error("cameo-status: \(TerminalText.escaped(thumbnail.description))") }
    }
}
