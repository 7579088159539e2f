internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

@main
struct CameoEnqueue: AsyncParsableCommand, SourceTaking {
    static let configuration = CommandConfiguration(
        commandName: "cameo-enqueue",
        abstract: "Enqueue thumbnail jobs.",
        discussion: """
            Prints one line per request: the job's id, its state and the URIs of its future thumbnails, which a worker \
            (cameo-worker) makes. A request for the same thumbnails as a waiting job joins that job. If fresh \
            thumbnails already exist, no job is created and the id is - (see --refresh); in a batch, a completed job \
            is recorded.

            A SOURCE that cannot work, such as a missing file, is refused before anything is enqueued. Words after -- \
            and entries of a list are never options.

            Rendition options apply to every --size. An option that only some formats support, such as --quality, is \
            skipped for sizes of other formats, but refused if it applies to none. \(Duration.explanation) \
            \(ByteCount.explanation)

            EXAMPLES
              cameo-enqueue photo.jpg
              cameo-enqueue --label user:42 --label avatars photo.jpg
              cameo-enqueue --size 256x256:cover:webp --size 1024x:jpeg 'holiday/*.jpg' --batch holiday --wait
              cameo-enqueue https://example.com/picture.png --json
              find . -name '*.png' -print0 | cameo-enqueue -0
              cameo-enqueue -r ~/Pictures --size 256x256:cover:webp --batch library
              cameo-enqueue -r --watch inbox
              cameo-enqueue --batch holiday --batch-hook site -- *.jpg
              cameo-enqueue --outbox app.sqlite --watch
              cameo-enqueue --data --size 64x64 < avatar.png
              cameo-enqueue --data --cache-key user:42/avatar --size 64x64 < avatar.png
              cameo-enqueue --request request.json
              cameo-enqueue --preset gallery photo.jpg
              cameo-enqueue --size 400x300:cover --gravity 0.3,0.7 --dpr 2 photo.jpg
              cameo-enqueue --size 128x128:cover --gravity attention --corner-radius circle face.jpg
              cameo-enqueue --size 1600x:jpeg --overlay logo.png --overlay-style scale=0.2,opacity=0.5 photo.jpg
              cameo-enqueue --size 320x --animated --max-bytes 500K clip.gif
              cameo-enqueue --crop 10%,0%,80%x100% --grayscale --adjust contrast=1.2 photo.jpg
              cameo-enqueue --at 10m --refresh always https://example.com/webcam.jpg
              cameo-enqueue --concurrency-key example.com --concurrency-limit 2 https://example.com/1.jpg

            EXIT CODES
              0 done, 1 a job failed (with --wait), 2 bad usage or a source that cannot work, 3 not finished in time, \
            4 the store cannot be opened, 5 perhaps accepted: a commit was not confirmed in time
            """,
        version: CameoVersion.current
    )

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var renditions: RenditionOptions
    @OptionGroup(title: "Job Options") var job: JobOptions

    @Flag(help: "Read the picture itself from standard input; no SOURCE is given.")
    var data = false

    @Option(
        help: """
            With --data: your name for the picture, from which the URIs of its thumbnails are derived. Other bytes \
            under the same name are a newer version of the picture.
            """.taking("name")
    )
    var cacheKey: String?

    @Option(
        help: """
            Enqueue the request in this JSON file (see proto-json/); - for standard input. Repeatable.
            """.taking("file.json"),
        completion: .file()
    )
    var request: [String] = []

    @Option(
        help: """
            Move what the attached tables of this SQLite file ask for into the store, as a worker does, and show there what \
            became of their rows; with --watch until stopped (cameo-admin attach --in).
            """.taking("app.sqlite"),
        completion: .file()
    )
    var outbox: String?

    @OptionGroup var waiting: WaitOptions

    @Flag(help: "Print an enqueue-receipt as JSON, one per line.")
    var json = false

    @Flag(help: "Enqueue missing files, which may appear later or exist on the worker's machine only.")
    var allowMissing = false

    @OptionGroup var list: ListOptions
    @OptionGroup var folders: FolderOptions

    @Argument(
        help: """
            Pictures: paths, patterns ('*.jpg'), folders (with -r), URLs (file:, http:, https:, data:, cameo:, or \
            initials:JD for a letter avatar) or a picture itself in base64; - reads a list from standard input, one per \
            line.
            """,
        completion: .file()
    )
    var source: [String] = []

    var notices: FileNotices { FileNotices(areJSON: json) }

    func validate() throws {
        guard !renditions.presets.listPresets else {
            guard !data, request.isEmpty, source.isEmpty, outbox == nil else {
                throw ValidationError(
                    "--list-presets enqueues nothing: do not combine it with a SOURCE, --data, --request or --outbox"
                )
            }
            guard cacheKey == nil else { throw ValidationError("--cache-key: --list-presets enqueues nothing") }
            if let option = try (renditions.given() + job.given).first(where: { $0 != "--presets" }) {
                throw ValidationError("\(option): --list-presets enqueues nothing")
            }
            return
        }
        guard outbox == nil else {
            let given = try renditions.given() + job.given + list.given + folders.given + waiting.given
            let others = [("--data", data), ("--request", !request.isEmpty), ("--cache-key", cacheKey != nil)]
            if let option = given.first(where: { $0 != "--watch" }) ?? others.first(where: \.1)?.0 {
                throw ValidationError("\(option): cannot be combined with --outbox, whose tables say what is enqueued")
            }
            guard source.isEmpty else {
                throw ValidationError("--outbox has what to enqueue: do not combine it with a SOURCE")
            }
            return
        }
        let source = try list.sources(source)
        guard data || !request.isEmpty || !source.isEmpty else {
            throw ValidationError("nothing to enqueue: give a SOURCE, --data or --request")
        }
        guard !data || (source.isEmpty && request.isEmpty) else {
            throw ValidationError(
                "--data reads the picture from standard input: do not combine it with a SOURCE or --request"
            )
        }
        guard request.isEmpty || source.isEmpty else {
            throw ValidationError("--request contains what to enqueue: do not combine it with a SOURCE")
        }
        if folders.watch {
            guard !source.isEmpty else { throw ValidationError("--watch needs a folder: give it as a SOURCE") }
            guard !waiting.wait else { throw ValidationError("--watch never ends: do not combine it with --wait") }
            guard job.batchHook == nil else {
                throw ValidationError("--watch never ends, nor does its batch: do not combine it with --batch-hook")
            }
        }
        if !request.isEmpty, let option = try (renditions.given() + job.given).first {
            throw ValidationError("\(option): cannot be combined with --request, which contains all options")
        }
        guard cacheKey == nil || data else { throw ValidationError("--cache-key needs --data") }
    }

    func run() async throws {
        if renditions.presets.listPresets { return try renditions.presets.list(asJSON: json) }
        if let outbox {
            let store = try storeOptions.open(creating: false)
            return try await store.finishing {
                await warnOfUnfollowedTables(of: store)
                try await Outbox(path: outbox, store: store, areJSON: json).move(watching: folders.watch)
            }
        }
        // All mistakes in the requests are found before a store is created or a job accepted.
        let renditions = request.isEmpty ? try renditions.renditions() : []
        let isNamed = request.isEmpty && !data
        let sources = isNamed ? try SourceArgument.all(list.sources(source), separator: list.separator) : []
        // Watched before it is walked, so that no picture that arrives in between is missed.
        let watch =
            folders.watch ? try FolderWatch(folders.watched(sources), folders.depth, leavingOut: storePath) : nil
        let requests = try await readRequests(sources, renditions)
        let key = try cacheKey.map { try CacheKey($0) }
        let bytes = data ? try readData() : nil
        let store = try storeOptions.open()
        try await store.finishing {
            await warnOfUnfollowedTables(of: store)
            let gone = DeletedSources(
                store: store,
                roots: folders.roots(of: sources),
                options: folders,
                notices: notices
            )
            try await gone.checkRights()
            let jobs: [Int64]
            if let bytes {
                let receipt = try await naming(key?.uri ?? CameoURI.blob(BlobDigest(of: bytes)).text) {
                    try await store.enqueue(requests.made(0..<1)[0], data: bytes, cacheKey: key, once: nil)
                }
                jobs = [receipt].compactMap(\.id)
                try print([receipt])
            } else {
                jobs = try await enqueue(requests, in: store)
            }
            try await gone.compare()
            if let seal = try job.seal() { try await store.add(seal) }
            // Several requests may have joined the same job.
            if waiting.wait { try await finish(Set(jobs).sorted(), in: store) }
            if let watch {
                Output.error("cameo-enqueue: watching \(AmountText.count(watch.folderCount, "folder"))")
                for try await var changes in try watch.changes() {
                    if !changes.files.videos.isEmpty {
                        changes.files.settleVideos(makeFrames: try await makeFrames(in: store))
                    }
                    try notices.tell(.skipped, changes.files.others)
                    let sources = changes.files.pictures.map { SourceArgument($0) }
                    let made = try sources.map { try prototype(source: $0.source, renditions) }
                    _ = try await enqueue(RequestList(made), in: store)
                    try await gone.handle(changes.deleted)
                }
            }
        }
    }

    static func main() async {
        await CommandMain.run(Self.self)
    }

    /// Prints accepted jobs at once, so that if a later chunk is refused, only the rest has to be enqueued again. Returns
    /// the ids of the jobs.
    private func enqueue(_ requests: RequestList, in store: any ProducerStore) async throws -> [Int64] {
        @Sendable func prepared(from start: Int) async throws -> [CheckedRequest] {
            try await CheckedRequest.all(requests.made(start..<min(start + StoreLimits.enqueueChunk, requests.count)))
        }
        var (jobs, chunk): ([Int64], [CheckedRequest]) = ([], try await prepared(from: 0))
        for end in stride(from: 0, to: requests.count, by: StoreLimits.enqueueChunk).dropFirst() + [requests.count] {
            // The next chunk is prepared while this one is written.
            async let next = prepared(from: end)
            let key = chunk.first?.job.wanted.first.map { CameoURI.thumbnail($0.id).text } ?? ""
            let accepted = try await naming(key) { [chunk] in try await store.enqueue(chunk) }
            try print(accepted)
            jobs += accepted.compactMap(\.id)
            chunk = try await next
        }
        return jobs
    }

    /// Adds to an error what makes it safe to repeat a request that was perhaps accepted.
    private func naming<Value>(_ key: String, _ enqueue: () async throws -> Value) async throws -> Value {
        do {
            return try await enqueue()
        } catch StoreError.uncertain(let place, let reason) {
            let safe = "the same command again is safe, because it joins the job for \(key)"
            throw StoreError.uncertain(location: place, reason: "\(reason); \(safe)")
        }
    }

    // MARK: - Answers

    private func print(_ receipts: [EnqueueReceipt]) throws {
        // Somebody who waits at a terminal reads how it ended.
        guard !waiting.wait || json || !Output.outputIsTerminal else { return }
        Output.lines(
            try receipts.map { receipt in
                if json { return String(decoding: try WireFormat.encode(receipt), as: UTF8.self) }
                return "\(receipt.id.map(String.init) ?? "-")\t\(receipt.state.rawValue)\t"
                    + receipt.thumbnails.map(\.uri.text).joined(separator: "\t")
            }
        )
    }

    private func finish(_ ids: [Int64], in store: any ReaderStore) async throws {
        let wait = JobWait(store: store, timeout: waiting.waitTimeout)
        let states = try await wait.untilFinished(ids)
        if Output.outputIsTerminal, !json, let first = ids.first, let last = ids.last {
            let counts = JobState.ends.compactMap { state in states[state].map { "\($0) \(state.rawValue)" } }
            Output.line(
                "\(first == last ? "job \(first)" : "jobs \(first) to \(last)"): \(counts.joined(separator: ", "))"
            )
        }
        let failed = (states[.discarded] ?? 0) + (states[.cancelled] ?? 0)
        guard failed > 0 else { return }
        for (id, state) in try await store.states(of: ids).sorted(by: { $0.key < $1.key }) where state != .completed {
            guard let job = try await Self.kept(id, in: store) else { continue }
            let reason = job.failure.map { "\($0.code.rawValue): \($0.message)" } ?? "by request"
            Output.error("cameo-enqueue: job \(job.id) \(job.state.rawValue): \(TerminalText.escaped(reason))")
        }
        throw CommandFailure("\(failed) of \(AmountText.count(ids.count, "job")) made no thumbnails", .failed)
    }

    /// The job, unless it was removed since it ended.
    private static func kept(_ id: Int64, in store: any ReaderStore) async throws(StoreError) -> Job? {
        do throws(StoreError) {
            return try await store.jobInPlace(of: id)
        } catch .noSuchJob {
            return nil
        }
    }
}

/// Maps fields of a request to the options that set them.
enum TypedOption {
    /// The options that set more than the field of their name.
    private static let shared = [
        "brightness": "adjust", "contrast": "adjust", "saturation": "adjust", "corners": "corner-radius",
        "borderColor": "border", "lossless": "encoding", "nearLossless": "encoding", "progressive": "encoding",
        "palette": "encoding", "chromaSubsampling": "encoding", "keepProfile": "keep",
    ]

    /// The mistake in a field under the name of its option: `maxAttempts` is `--max-attempts`, `overlay.margin` is
    /// `--overlay-style: margin`.
    static func mistake(_ error: InvalidRequest) -> ValidationError {
        let path = error.path.split(separator: ".").map(String.init)
        switch path.first {
        case "overlay" where path.count > 1 && path[1] != "source":
            return mistake("overlay-style", path.dropFirst(), error)
        case let field? where field.hasPrefix("labels"): return mistake("label", [], error)
        case "headers": return mistake("header", path.dropFirst(), error)
        case let field?:
            let details = path.dropFirst().filter { $0 != "fraction" && $0 != "source" }
            guard let option = shared[field] else { return mistake(field, details[...], error) }
            return mistake(option, [field] + details, error)
        case nil: return mistake("", [], error)
        }
    }

    private static func mistake(
        _ option: String,
        _ details: ArraySlice<String>,
        _ error: InvalidRequest
    ) -> ValidationError {
        ValidationError("\(name(option)): \((details + [error.reason]).joined(separator: " "))")
    }

    /// The option that sets a property: `maxAttempts` is `--max-attempts`.
    static func name(_ property: String) -> String {
        "--" + property.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
    }
}

extension ParsableArguments {
    /// The options with a value other than their default, in the order in which they are declared.
    var given: [String] {
        get throws {
            let usual = Mirror(reflecting: try Self.parse([])).children
            return zip(Mirror(reflecting: self).children, usual).compactMap { option, usual in
                guard let label = option.label, "\(option.value)" != "\(usual.value)" else { return nil }
                return TypedOption.name(String(label.dropFirst()))
            }
        }
    }
}
