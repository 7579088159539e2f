internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct ForgetCommand: AsyncParsableCommand, SourceTaking {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove cached originals, so that the next job fetches them again.",
        discussion: """
            Removes everything stored for each SOURCE: responses to requests with any credentials, remembered \
            failures, and bytes that a program uploaded under this name.

            EXAMPLES
              cameo-admin forget https://example.com/picture.png
              cameo-admin forget --thumbnails photo.jpg 'holiday/*.jpg'

            EXIT CODES
              0 done, 1 nothing was stored for a source, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Remove the thumbnails made from it too. Their URIs resolve to nothing until they are made again.")
    var thumbnails = false

    @Flag(help: "Print JSON, one {\"source\":…,\"originals\":…,\"failures\":…,\"bytes\":…,\"thumbnails\":…} per line.")
    var json = false

    @OptionGroup var list: ListOptions

    @Argument(
        help: "Paths, patterns or URIs, as for cameo-enqueue; - reads a list from standard input.",
        completion: .file()
    )
    var source: [String] = []

    func validate() throws {
        guard try !list.sources(source).isEmpty else { throw ValidationError("name the SOURCEs to forget") }
    }

    func run() async throws {
        let sources = try SourceArgument.all(try list.sources(source), separator: list.separator).map(\.source)
        let store = try storeOptions.open(creating: false)
        var missing = 0
        for source in sources {
            let forgotten = try await store.forgetSource(source, thumbnails ? .originalsAndThumbnails : .originals)
            if forgotten.isNothing { missing += 1 }
            let name = TerminalText.escaped(SourceName.of(source))
            if json {
                let message: JSONValue = [
                    "source": .string(source), "originals": .integer(Int64(forgotten.originals)),
                    "failures": .integer(Int64(forgotten.failures)), "bytes": .integer(Int64(forgotten.bytes)),
                    "thumbnails": .integer(Int64(forgotten.thumbnails)),
                ]
                try Output.message(message)
            } else if forgotten.isNothing {
                // A thumbnail can be a source too.
                let isThumbnail = source.hasPrefix("cameo://thumb/")
                Output.error(
                    isThumbnail
                        ? "cameo-admin: nothing was made from \(name); to remove it, name the picture that it was made from"
                        : "cameo-admin: nothing is stored for \(name)"
                )
            } else {
                let originals = AmountText.count(forgotten.originals, "original")
                Output.line(
                    "\(name): \(originals) (\(AmountText.count(forgotten.bytes, "byte"))), "
                        + "\(AmountText.count(forgotten.failures, "failure")), "
                        + AmountText.count(forgotten.thumbnails, "thumbnail")
                )
            }
        }
        if missing > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
