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
            All thumbnails of the store, whatever became of their jobs, or those selected, are written below folders like \
            those of their sources: shop.example/shoes/red.64x.webp. Those of jobs that are named by their ids are \
            written into the folder itself.

            manifest.json in the folder lists every file of this and earlier exports with its source and URI: \
            [{"file":…,"source":…,"uri":…}]. Thumbnails that cannot be read, or whose file name is taken, are reported \
            and skipped.

            EXAMPLES
              cameo-status export thumbnails --batch holiday
              cameo-status export thumbnails --source https://shop.example/shoes/ --since 90d
              cameo-status export thumbnails 17 18
              cameo-status export all --json

            EXIT CODES
              0 done, 1 a thumbnail was skipped, or there are no such thumbnails, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The folder; created if it does not exist.", completion: .directory)
    var directory: String

    @OptionGroup var chosen: ChosenThumbnails

    @Flag(help: "Print JSON: {\"written\":…,\"kept\":…,\"skipped\":[…],\"unreadable\":[…]}, with file names and URIs.")
    var json = false

    func run() async throws {
        let store = try storeOptions.openReading()
        let chosen = try await chosen.found(in: store)
        guard chosen.hasThumbnails else { throw ThumbnailSelection.nothing(chosen.filter) }
        var export = try Export(to: directory, from: store)
        for job in chosen.jobs {
            for thumbnail in job.thumbnails { try await export.write(thumbnail, of: job) }
        }
        if chosen.jobs.isEmpty {
            try await store.forEachThumbnail(chosen.filter) { try await export.write($0) }
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
            It has all thumbnails of the store, whatever became of their jobs, or those selected. Of jobs that are named by \
            their ids, it also says why they failed. Thumbnails that cannot be read are shown as placeholders.

            EXAMPLES
              cameo-status sheet holiday.html --batch holiday
              cameo-status sheet shoes.html --source https://shop.example/shoes/
              cameo-status sheet jobs.html 17 18

            EXIT CODES
              0 done, 1 a thumbnail could not be read, or there are no such thumbnails, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The file, replaced if it exists; - for standard output.", completion: .file())
    var file: String

    @OptionGroup var chosen: ChosenThumbnails

    @Flag(help: "Print JSON: {\"file\":…,\"unreadable\":[…]}, with the file's path and URIs.")
    var json = false

    func validate() throws {
        guard file != "-" || !json else {
            throw ValidationError("--json needs a file, because - writes the sheet itself")
        }
    }

    func run() async throws {
        let store = try storeOptions.openReading()
        let found = try await chosen.found(in: store)
        guard found.hasThumbnails || !found.jobs.isEmpty else { throw ThumbnailSelection.nothing(found.filter) }
        var sheet = ContactSheet(store: store)
        for job in found.jobs { await sheet.add(job) }
        if found.jobs.isEmpty { try await store.forEachThumbnail(found.filter) { await sheet.add($0) } }
        let title = found.filter.batch ?? found.filter.label ?? "Cameo"
        let (html, unreadable) = (sheet.html(title: title), sheet.unreadable)
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

/// Which thumbnails are written: those of some jobs, or those that have some properties.
struct ChosenThumbnails: ParsableArguments {
    @Argument(help: "Only the thumbnails of these jobs, by their ids.")
    var job: [Int64] = []

    @OptionGroup(title: "Selection Options") var selection: ThumbnailSelection

    func validate() throws {
        guard try job.isEmpty || selection.filter().isEmpty else {
            throw ValidationError("give either the ids of jobs or options that select thumbnails")
        }
    }

    /// What there is of them. Without jobs, the filter says which.
    func found(in store: any ReaderStore) async throws -> (jobs: [Job], filter: ThumbnailFilter, hasThumbnails: Bool) {
        let filter = try selection.filter()
        var jobs: [Job] = []
        for id in job { jobs.append(try await store.job(id)) }
        let hasThumbnails =
            jobs.isEmpty
            ? try await !store.thumbnails(where: filter, after: nil, limit: 1).thumbnails.isEmpty
            : jobs.contains { $0.thumbnails.contains { $0.blob != nil } }
        return (jobs, filter, hasThumbnails)
    }
}

extension Output {
    static func errors(of thumbnails: [UnreadableThumbnail]) {
        for thumbnail in thumbnails { error("cameo-status: \(TerminalText.escaped(thumbnail.description))") }
    }
}
