internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct ForgetCommand: AsyncParsableCommand, SourceTaking {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove cached originals, so that the next job fetches them again, or thumbnails for good.",
        discussion: """
            Removes everything stored for each SOURCE: responses to requests with any credentials, remembered \
            failures, and bytes that a program uploaded under this name.

            The options remove thumbnails. From then on their URIs and bytes are found by nobody, jobs that were to make \
            them are cancelled, and an original goes with the last thumbnail that was made from it. A request that comes \
            later makes them again. Browsers and other caches may keep what they have.

            EXAMPLES
              cameo-admin forget https://example.com/picture.png
              cameo-admin forget --thumbnails photo.jpg 'holiday/*.jpg'
              cameo-admin forget --label user:42 --dry-run
              cameo-admin forget --label user:42
              cameo-admin forget --now --prefix https://shop.example/shoes/

            EXIT CODES
              0 done, also if it was forgotten before, 1 nothing was ever stored for a source or selected, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Remove the thumbnails made from it too. Their URIs resolve to nothing until they are made again.")
    var thumbnails = false

    @Option(help: ArgumentHelp("Remove this thumbnail: its URI, id or URL.", valueName: "uri"))
    var uri: [ThumbnailArgument] = []

    @Option(help: ArgumentHelp("Remove the thumbnails of all sources that begin so.", valueName: "text"))
    var prefix: [String] = []

    @Option(help: "Remove a label, and the thumbnails that no request with another, or without one, named.")
    var label: [String] = []

    @Option(help: "Remove the thumbnails of a batch that are of no other.")
    var batch: [String] = []

    @Option(help: ArgumentHelp("Remove the thumbnails that a job asked for.", valueName: "id"))
    var job: [Int64] = []

    @Flag(help: "With --label or --batch: remove thumbnails too that others named.")
    var evenShared = false

    @Flag(help: "Remove the bytes at once, if they are older than a minute, and not when a worker next cleans up.")
    var now = false

    @Flag(help: "Say what would be removed, and remove nothing.")
    var dryRun = false

    @Flag(
        help: """
            Print JSON, one {\"source\":…,\"originals\":…,\"failures\":…,\"bytes\":…,\"thumbnails\":…} per line; of what \
            options select {\"thumbnails\":…,\"bytes\":…,\"bytesLeft\":…}.
            """
    )
    var json = false

    @OptionGroup var list: ListOptions

    @Argument(
        help: "Paths, patterns or URIs, as for cameo-enqueue; - reads a list from standard input.",
        completion: .file()
    )
    var source: [String] = []

    private var selectors: [ForgetSelector] {
        get throws {
            let texts = [
                ("uri", uri.map(\.id.text)), ("prefix", prefix.map(SourceArgument.prefix)), ("label", label),
                ("batch", batch),
            ]
            let selectors = texts.flatMap { name, texts in texts.map { [name: JSONValue.string($0)] } }
            return try (selectors + job.map { ["job": .integer($0)] })
                .map { try ForgetSelector(json: .object($0.merging(["evenShared": .bool(evenShared)]) { $1 })) }
        }
    }

    func validate() throws {
        let hasSources = try !list.sources(source).isEmpty
        let selectors: [ForgetSelector]
        do { selectors = try self.selectors } catch { throw ValidationError("--\(error)") }
        guard hasSources || !selectors.isEmpty else {
            throw ValidationError("name the SOURCEs to forget, or give --uri, --prefix, --label, --batch or --job")
        }
        guard !hasSources || selectors.isEmpty else {
            throw ValidationError("give SOURCEs or what selects thumbnails, not both")
        }
        guard !dryRun || !now else { throw ValidationError("--now: not with --dry-run") }
        guard !evenShared || !label.isEmpty || !batch.isEmpty else {
            throw ValidationError("--even-shared needs --label or --batch")
        }
    }

    func run() async throws {
        let selectors = try selectors
        guard selectors.isEmpty else { return try await forget(selectors) }
        let sources = try SourceArgument.all(try list.sources(source), separator: list.separator).map(\.source)
        let store = try storeOptions.open(creating: false)
        var missing = 0
        for source in sources {
            let extent = thumbnails ? ForgottenExtent.originalsAndThumbnails : .originals
            let forgotten =
                try await dryRun ? store.forgettable(source, extent) : store.forgetSource(source, extent)
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
                        + AmountText.count(forgotten.thumbnails, "thumbnail") + manner
                )
            }
        }
        if now { try await store.removeForgottenBytes() }
        if missing > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    /// What follows what is removed.
    private var manner: String { dryRun ? " would be removed" : "" }

    private func forget(_ selectors: [ForgetSelector]) async throws {
        let store = try storeOptions.open(creating: false)
        var missing = 0
        for selector in selectors {
            let receipt = try await dryRun ? store.forgettable(selector) : store.forget(selector, atOnce: now)
            if !receipt.isKnown { missing += 1 }
            let name = TerminalText.escaped(selector.shown)
            if json {
                try Output.message(receipt)
            } else if !receipt.isKnown {
                Output.error("cameo-admin: no thumbnail is selected by \(name), nor was one that was forgotten")
            } else if receipt.thumbnails == 0 {
                Output.line("\(name): nothing is left to remove")
            } else {
                let left =
                    receipt.bytesLeft > 0 && !dryRun
                    ? ", of which \(receipt.bytesLeft) are left for the next cleaning" : ""
                Output.line(
                    "\(name): \(AmountText.count(receipt.thumbnails, "thumbnail")) "
                        + "(\(AmountText.count(receipt.bytes, "byte"))\(left))\(manner)"
                )
            }
        }
        if missing > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
