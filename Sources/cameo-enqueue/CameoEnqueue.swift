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
        abstract: "Puts thumbnail jobs into the queue.",
        discussion: """
            Prints one line a request: the job's id, its state and the URIs that its thumbnails will have. A worker \
            (cameo-worker) makes them. A request for the same thumbnails as a job that still waits joins that job; one \
            whose thumbnails are made and fresh needs none, and has - for an id (see --refresh); in a batch it has \
            that of a job that is completed already.

            A SOURCE that cannot work, as a file that is not there, is refused before anything is enqueued. What stands \
            behind -- and what comes in a list is never an option.

            An option of a rendition holds for every --size. One that only some formats have, such as --quality, \
            passes by the sizes of other formats; if no size takes it, it is refused. \(DurationArgument.explanation) \
            \(ByteCount.explanation)

            EXAMPLES
              cameo-enqueue photo.jpg
              cameo-enqueue --size 256x256:cover:webp --size 1024x:jpeg 'holiday/*.jpg' --batch holiday --wait
              cameo-enqueue https://example.com/picture.png --json
              find . -name '*.png' -print0 | cameo-enqueue -0
              cameo-enqueue -r ~/Pictures --size 256x256:cover:webp --batch library
              cameo-enqueue -r --watch inbox
              cameo-enqueue --batch holiday -- *.jpg
              cameo-enqueue --data --size 64x64 < avatar.png
              cameo-enqueue --data --cache-key user:42/avatar --size 64x64 < avatar.png
              cameo-enqueue --request request.json
              cameo-enqueue --preset gallery photo.jpg
              cameo-enqueue --size 400x300:cover --gravity 0.3,0.7 --dpr 2 photo.jpg
              cameo-enqueue --size 128x128:cover --gravity attention --corner-radius circle face.jpg
              cameo-enqueue --size 1600x:jpeg --overlay logo.png --overlay-scale 0.2 --overlay-opacity 0.5 photo.jpg
              cameo-enqueue --size 320x --animated --max-bytes 500K clip.gif
              cameo-enqueue --crop 10%,0%,80%x100% --grayscale --contrast 1.2 photo.jpg
              cameo-enqueue --in 10m --refresh always https://example.com/webcam.jpg
              cameo-enqueue --concurrency-key example.com --concurrency-limit 2 https://example.com/1.jpg

            EXIT CODES
              0 done, 1 a job failed (with --wait), 2 bad usage, or a source that cannot work, 3 not finished in time, \
            4 the store cannot be opened
            """,
        version: CameoVersion.current
    )

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var renditions: RenditionOptions
    @OptionGroup(title: "Job Options") var job: JobOptions

    @Flag(help: "The picture's bytes come on standard input; there is no SOURCE.")
    var data = false

    @Option(
        help: ArgumentHelp(
            """
            With --data: a name of yours for the picture, from which its thumbnails' URIs follow. Other bytes under the \
            same name are newer ones of the same picture.
            """,
            valueName: "name"
        )
    )
    var cacheKey: String?

    @Option(
        help: ArgumentHelp(
            "Enqueues the request in a JSON file (see proto-json/); - for standard input. Repeatable.",
            valueName: "file.json"
        ),
        completion: .file()
    )
    var request: [String] = []

    @OptionGroup var waiting: WaitOptions

    @Flag(help: "Prints one enqueue-receipt (JSON) a line.")
    var json = false

    @Flag(help: "Enqueues files that are not there: they may come, or be on the worker's machine only.")
    var allowMissing = false

    @OptionGroup var list: ListOptions
    @OptionGroup var folders: FolderOptions

    @Argument(
        help: """
            Pictures: paths, patterns such as '*.jpg', folders (with -r), URLs (file:, http:, https:, data:, cameo:, and initials:JD for a \
            letter avatar), or a picture itself in base64. - reads a list from standard input, one a line.
            """,
        completion: .file()
    )
    var source: [String] = []

    func validate() throws {
        guard !renditions.presets.listPresets else {
            guard !data, request.isEmpty, source.isEmpty else {
                throw ValidationError("--list-presets enqueues nothing: give no SOURCE, --data or --request with it")
            }
            guard cacheKey == nil else { throw ValidationError("--cache-key: --list-presets enqueues nothing") }
            if let option = (renditions.allGiven + job.given).first(where: { $0 != "--presets" }) {
                throw ValidationError("\(option): --list-presets enqueues nothing")
            }
            return
        }
        let source = try list.sources(source)
        guard data || !request.isEmpty || !source.isEmpty else {
            throw ValidationError("nothing to enqueue: give a SOURCE, --data or --request")
        }
        guard !data || (source.isEmpty && request.isEmpty) else {
            throw ValidationError(
                "--data takes the picture from standard input: give no SOURCE and no --request with it"
            )
        }
        guard request.isEmpty || source.isEmpty else {
            throw ValidationError("--request says what to enqueue: give no SOURCE with it")
        }
        if folders.watch {
            guard !source.isEmpty else { throw ValidationError("--watch needs a folder: give it as a SOURCE") }
            guard !waiting.wait else { throw ValidationError("--watch never ends: give no --wait with it") }
        }
        if !request.isEmpty, let option = (renditions.allGiven + job.given).first {
            throw ValidationError("\(option): --request says itself what to make, and how")
        }
        guard cacheKey == nil || data else { throw ValidationError("--cache-key needs --data") }
    }

    func run() async throws {
        if renditions.presets.listPresets { return try renditions.presets.list(asJSON: json) }
        // All that can be wrong with the request is found before a store is made or a job accepted.
        let renditions = request.isEmpty ? try renditions.renditions() : []
        let sources = try readSources()
        // Watched before it is walked: no picture comes between the two.
        let watch =
            folders.watch ? try FolderWatch(folders.watched(sources), folders.depth, leavingOut: storePath) : nil
        let requests = try readRequests(sources, renditions)
        try check(requests.lazy.flatMap(\.overlaySources), as: "overlay")
        let key = try cacheKey.map { try CacheKey($0) }
        let bytes = data ? try readData() : nil
        let store = try storeOptions.open()
        do {
            let receipts =
                if let bytes {
                    [try await enqueue(requests[0], bytes, key, in: store)]
                } else {
                    try await enqueue(requests, in: store)
                }
            if waiting.wait { try await finish(receipts, in: store) }
            if let watch {
                Output.error("cameo-enqueue: watching \(AmountText.count(watch.folderCount, "folder"))")
                for try await pictures in watch.pictures() {
                    let sources = pictures.map(SourceArgument.file)
                    _ = try await enqueue(try sources.map { try prototype(source: $0.source, renditions) }, in: store)
                }
            }
        } catch {
            await store.finish()
            throw error
        }
        await store.finish()
    }

    static func main() async {
        await CommandMain.run(Self.self)
    }

    // MARK: - Requests

    private var storePath: [UInt8] {
        guard case .folder(let path) = StoreName(storeOptions.path) else { return [] }
        return Array(path.utf8)
    }

    private func readSources() throws -> [SourceArgument] {
        guard request.isEmpty, !data else { return [] }
        return try SourceArgument.all(try list.sources(source), separator: list.separator)
    }

    private func readRequests(_ named: [SourceArgument], _ made: [Rendition]) throws -> [ThumbnailRequest] {
        guard request.isEmpty else { return try request.map(readRequest) }
        // The picture of --data comes later. What is wrong with an option is wrong with every source.
        let template = try prototype(source: "data:,", made)
        guard !data else {
            try job.expectUse(of: [template.source])
            return [template]
        }
        // Of folders that are only watched nothing is there to enqueue.
        let sources = folders.watch && !folders.recursive ? [] : try folders.expanded(named, store: storePath)
        try refuse(sources.compactMap { source in fault(of: source.source).map { "\(source.name): \($0)" } })
        try job.expectUse(of: sources.map(\.source))
        return try sources.map { source in
            do {
                return try prototype(source: source.source, made)
            } catch let error as InvalidRequest {
                throw CommandFailure("\(source.name): \(error.reason)", .usage)
            }
        }
    }

    private func readRequest(_ path: String) throws -> ThumbnailRequest {
        let data: Data
        do throws(Errno) {
            data = try InputFile.read(path)
        } catch {
            throw CommandFailure("the request \(path) cannot be read: \(error)", .usage)
        }
        let request: ThumbnailRequest
        do throws(InvalidRequest) {
            request = try ThumbnailRequest(parsing: data)
        } catch {
            throw CommandFailure("the request \(path) is invalid: \(error)", .usage)
        }
        try check([request.source], as: "source")
        return request
    }

    /// - Throws: ``InvalidRequest`` for the source, ``ValidationError`` for all else.
    private func prototype(source: String, _ renditions: [Rendition]) throws -> ThumbnailRequest {
        var request = ThumbnailRequest(source: source, renditions: renditions)
        try job.apply(to: &request)
        do throws(InvalidRequest) {
            try request.validate()
        } catch {
            throw error.path == "source" ? error : TypedOption.mistake(error)
        }
        return request
    }

    // MARK: - What cannot work

    private func fault(of source: String) -> String? {
        SourceFault.of(source, missing: allowMissing ? .allowed : .refused)
    }

    /// Looks at pictures whose `role` in their request is told.
    private func check(_ sources: some Sequence<String>, as role: String) throws(CommandFailure) {
        try refuse(
            Set(sources).sorted().compactMap { source in
                fault(of: source).map { "the \(role) \(SourceName.of(source)): \($0)" }
            }
        )
    }

    /// Names them all, or the first of very many.
    private func refuse(_ faults: [String]) throws(CommandFailure) {
        guard !faults.isEmpty else { return }
        let rest = faults.count - Self.namedFaults
        throw CommandFailure(
            faults.prefix(Self.namedFaults) + (rest > 0 ? ["and \(rest) more; nothing was enqueued"] : []),
            .usage
        )
    }

    private static let namedFaults = 20

    private func readData() throws -> Data {
        let data: Data
        do throws(Errno) {
            data = try InputFile.standardInput()
        } catch {
            throw CommandFailure("--data: standard input cannot be read: \(error)", .usage)
        }
        guard !data.isEmpty else { throw CommandFailure("--data: standard input is empty", .usage) }
        return data
    }

    private func enqueue(
        _ request: ThumbnailRequest,
        _ bytes: Data,
        _ key: CacheKey?,
        in store: any Store
    ) async throws -> EnqueueReceipt {
        let receipt = try await store.enqueue(request, data: bytes, cacheKey: key)
        try print([receipt])
        return receipt
    }

    /// What is accepted is said at once: should a later part be refused, nobody need enqueue all of it again.
    private func enqueue(_ requests: [ThumbnailRequest], in store: any Store) async throws -> [EnqueueReceipt] {
        var receipts: [EnqueueReceipt] = []
        var prepared = try await CheckedRequest.all(requests.prefix(StoreLimits.enqueueChunk))
        for end in stride(from: 0, to: requests.count, by: StoreLimits.enqueueChunk).dropFirst() + [requests.count] {
            // While these are written, the next are prepared.
            async let next = CheckedRequest.all(requests.dropFirst(end).prefix(StoreLimits.enqueueChunk))
            let accepted = try await store.enqueue(prepared)
            try print(accepted)
            receipts += accepted
            prepared = try await next
        }
        return receipts
    }

    // MARK: - Answers

    private func print(_ receipts: [EnqueueReceipt]) throws {
        Output.lines(
            try receipts.map { receipt in
                if json { return String(decoding: try WireFormat.encode(receipt), as: UTF8.self) }
                return "\(receipt.id.map(String.init) ?? "-")\t\(receipt.state.rawValue)\t"
                    + receipt.thumbnails.map(\.uri.text).joined(separator: "\t")
            }
        )
    }

    private func finish(_ receipts: [EnqueueReceipt], in store: any Store) async throws {
        let wait = JobWait(store: store, timeout: waiting.timeout)
        // Several requests may have joined one job.
        let ids = Set(receipts.compactMap(\.id)).sorted()
        let states = try await wait.untilFinished(ids)
        let failed = (states[.discarded] ?? 0) + (states[.cancelled] ?? 0)
        guard failed > 0 else { return }
        for (id, state) in try await store.states(of: ids).sorted(by: { $0.key < $1.key }) where state != .completed {
            let job = try await store.jobInPlace(of: id)
            let reason = job.failure.map { "\($0.code.rawValue): \($0.message)" } ?? "called off"
            Output.error("cameo-enqueue: job \(job.id) \(job.state.rawValue): \(TerminalText.escaped(reason))")
        }
        throw CommandFailure("\(failed) of \(AmountText.count(ids.count, "job")) made no thumbnails", .failed)
    }
}
