internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct ThumbCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumb",
        abstract: "Show what is known of thumbnails: size, source, labels, whatever became of their jobs.",
        discussion: """
            Of a thumbnail that does not exist it says whether a job will make it, or has ended without it in the last \
            week.

            EXAMPLES
              cameo-status thumb cameo://thumb/0123456789abcdef0123456789abcdef
              cameo-status thumb 0123456789abcdef0123456789abcdef --json
              cameo-status thumb https://pictures.example/thumb/0123456789abcdef0123456789abcdef

            EXIT CODES
              0 done, 1 a thumbnail does not exist, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "Thumbnails: cameo://thumb/…, an id of 32 hexadecimal digits, or the URL of a page's picture.")
    var thumbnail: [ThumbnailArgument]

    @Flag(
        help: """
            Print a thumbnail-facts of each as JSON, one per line; of one that does not exist \
            {\"uri\":…,\"state\":…,\"job\":…,\"code\":…}, the state being promised, failed, forgotten or notAskedFor.
            """
    )
    var json = false

    func run() async throws {
        let store = try storeOptions.openReading()
        let ids = thumbnail.map(\.id)
        let found = Dictionary(try await store.facts(of: ids).map { ($0.thumbnail.uri, $0) }) { first, _ in first }
        for id in ids {
            if let facts = found[.thumbnail(id)] {
                try Output.answer(facts, asJSON: json, ThumbnailList.lines(facts, escape: TerminalText.escaped))
            } else {
                let promise = try await store.promise(of: id)
                let isForgotten = try await store.wasForgotten(.thumbnail(id))
                let missing = MissingThumbnail(uri: .thumbnail(id), promise, isForgotten: isForgotten)
                if json { try Output.message(missing) } else { Output.error("cameo-status: \(missing.text)") }
            }
        }
        if ids.contains(where: { found[.thumbnail($0)] == nil }) { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}

/// Why a thumbnail does not exist.
private struct MissingThumbnail: Encodable {
    enum State: String, Encodable { case promised, failed, forgotten, notAskedFor }
    let uri: CameoURI
    let state: State
    /// The job that promises it, or that ended without it, and why.
    let job: Int64?
    let code: JobFailure.Code?

    init(uri: CameoURI, _ promise: Promise?, isForgotten: Bool) {
        (self.uri, job, code) = (uri, promise?.job, promise?.code)
        state = promise.map { $0.code == nil ? .promised : .failed } ?? (isForgotten ? .forgotten : .notAskedFor)
    }

    var text: String {
        let (name, job) = ("\(uri) does not exist", job ?? 0)
        return switch state {
        case .promised: "\(name) yet: job \(job) promises it"
        case .failed: "\(name): job \(job) ended without it (\(code?.rawValue ?? ""))"
        case .forgotten: "\(name): it was forgotten"
        case .notAskedFor: "\(name), and no job promises it"
        }
    }
}

struct ThumbsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbs",
        abstract: "List thumbnails, whatever became of their jobs.",
        discussion: """
            Without options they are listed by their last use, the latest first; those of sources by these, and those of \
            a label, batch or digest, or of the same bytes, by their ids. The age is the time since a thumbnail was made last.

            EXAMPLES
              cameo-status thumbs
              cameo-status thumbs --source https://shop.example/shoes/
              cameo-status thumbs --label user:42 --json
              cameo-status thumbs --search beach
              cameo-status thumbs --same-as photo.jpg
              cameo-status thumbs --batch holiday --since 90d --limit 20 --after 0123456789abcdef0123456789abcdef

            EXIT CODES
              0 done, 1 there are no such thumbnails, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup(title: "Selection Options") var selection: ThumbnailSelection

    @Option(help: "Only thumbnails after this one, the last of the previous page.".taking("thumbnail"))
    var after: ThumbnailArgument?

    @Option(parsing: .unconditional, help: "List at most this many thumbnails.".taking("number"))
    var limit = 50

    @Flag(help: "Print a thumbnail-facts of each as JSON, one per line.")
    var json = false

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit \(limit): must be at least 1") }
    }

    func run() async throws {
        let filter = try selection.filter()
        let store = try storeOptions.openReading()
        let page: ThumbnailPage
        do throws(StoreError) {
            page = try await store.thumbnails(where: filter, after: after?.id.text, limit: limit)
        } catch .refused(let reason) {
            throw CommandFailure(reason, .failed)
        }
        guard !page.thumbnails.isEmpty else {
            if after != nil { return Output.error("cameo-status: these were all") }
            throw ThumbnailSelection.nothing(filter)
        }
        if json {
            for facts in page.thumbnails { try Output.message(facts) }
        } else {
            Output.lines(
                ThumbnailList.lines(
                    page.thumbnails,
                    at: store.clock.now(),
                    columns: OutputTerminal.current?.columns,
                    style: OutputTerminal.style,
                    escape: TerminalText.escaped
                )
            )
            if let next = page.next { Output.error("for the next page: --after \(next)") }
        }
    }
}
