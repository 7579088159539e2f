internal import ArgumentParser
internal import CameoFetch
internal import CameoHooks
internal import CameoModel
internal import CameoRenderer
internal import CameoReport
internal import CameoStore
internal import CameoSystem
internal import CameoWorker
internal import CommandLogging
internal import CommandSupport
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Builds a worker from its options and runs it.
struct WorkerApp {
    private(set) var command: CameoWorkerCommand
    private let budget: ByteBudget
    private let level: Live<Logger.Level>

    init(_ command: CameoWorkerCommand) {
        self.command = command
        budget = ByteBudget(limit: command.sources.bytesInFlight)
        level = Live(command.log.level(quiet: Self.showsProgress(command)))
    }

    private static func showsProgress(_ command: CameoWorkerCommand) -> Bool {
        command.work.drain && Output.errorIsTerminal
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)  // a log reader that exits must not take the worker with it
        signal(SIGHUP, SIG_IGN)  // until the listener runs
        try yieldToOthers()
        if command.render.formats { return try await printFormats() }
        let drains = command.work.drain
        let logger = command.log.logger(level, label: "cameo-worker")
        try warnOfUnknownVariables()
        try warnOfFewOpenFiles()
        let store = try command.storeOptions.open()
        defer { store.close() }
        try await warnOfUnknownQueues(store)
        let fetcher = try makeFetcher(store, logger)
        defer { fetcher.shutdown() }
        let hooks = try makeDeliverer(store, logger)
        let renderer = try makeRenderer()
        var frameMaker = try rendererConfiguration()
        frameMaker.executable = command.render.framesExecutable
        let frames = VideoFrames(frameMaker)
        try await probe(renderer)
        warnOfWhatIsMissing(renderer, logger)
        let configuration = workConfiguration
        let background = configuration.backgroundJobs(at: .now)
        let total = drains ? try await store.unfinishedJobs(queues: configuration.queues, background: background) : 0
        let tally = DrainTally(of: total, showsProgress: Self.showsProgress(command))
        let worker = Worker(
            id: Self.freshID(),
            configuration: configuration,
            store: store,
            fetcher: fetcher,
            renderer: renderer,
            frames: frames,
            hooks: hooks,
            tables: TableWatch(of: store, open: StoreOptions.open(others:)) { Self.log($0, logger) },
            logger: logger,
            observe: { outcome in if drains { tally.note(outcome) } }
        )
        logStart(worker, store, logger)
        let end: Result<Void, any Error>
        do {
            end = .success(try await runService(worker, logger) { await reload(worker, hooks, store, logger) })
        } catch {
            end = .failure(error)
        }
        await frames.shutdown()
        await renderer.shutdown()
        try end.get()
        logger.info("ended", metadata: ["worker": "\(worker.id)"])
        guard drains else { return }
        try await warnOfPausedQueues(store)
        try await warnOfQuietQueues(store)
        try tally.finish(isDrained: worker.hasDrained)
    }

    private static func log(_ event: TableWatch.Event, _ logger: Logger) {
        switch event {
        case .moved: break
        case .refused(let name?, let error):
            logger.warning(
                "an attached table cannot be followed",
                metadata: ["attachment": "\(name)", "error": "\(error)"]
            )
        case .refused(nil, let error):
            logger.debug("attachments cannot be read", metadata: ["error": "\(error)"])
        }
    }

    /// Before anything else starts a thread or a program, which inherit it.
    private func yieldToOthers() throws(CommandFailure) {
        do throws(Errno) {
            if let nice = command.work.niceness.value { try ProcessPriority.setNice(nice) }
            if command.work.niceness.disk == .idle { try ProcessPriority.useIdleDisk() }
        } catch {
            throw CommandFailure("--nice: \(error)", .failed)
        }
    }

    private var workConfiguration: WorkerConfiguration {
        var configuration = command.work.configuration(renderers: command.render.processes)
        configuration.fetchConcurrency = command.sources.fetchConcurrency
        configuration.concurrency = min(configuration.concurrency, affordableJobs)
        configuration.budget = budget
        configuration.maximumSourceBytes = command.sources.maxSourceBytes.bytes
        configuration.cacheBudget = command.cache.budget
        configuration.retention = command.retention.retention
        return configuration
    }

    /// Reads the settings again; if that fails, the previous settings stay in force.
    private func reload(_ worker: Worker, _ hooks: HookDeliverer, _ store: any Store, _ logger: Logger) async {
        do {
            var fresh = self
            fresh.command = try await CommandMain.parsed(CameoWorkerCommand.self, environmentPrefix: "CAMEO_")
            let settings = try fresh.command.hooks.settings()
            worker.fetch(with: try fresh.makeFetcher(store, logger))
            hooks.use(settings)
            level.value = fresh.command.log.level(quiet: Self.showsProgress(fresh.command))
            logger.notice("reloaded")
        } catch {
            let reason =
                (error as? CommandFailure)?.messages.joined(separator: "; ") ?? CameoWorkerCommand.message(for: error)
            logger.error("cannot reload; the settings stay unchanged", metadata: ["reason": "\(reason)"])
        }
    }

    private func runService(
        _ worker: Worker,
        _ logger: Logger,
        reload: @escaping @Sendable () async -> Void
    ) async throws {
        // The group's own log lines add nothing to ours.
        var quiet = logger
        quiet.logLevel = .error
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: worker, successTerminationBehavior: .gracefullyShutdownGroup)],
                logger: quiet
            )
        )
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        let listener = WorkerSignals(worker: worker, group: group, logger: logger, reload: reload)
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { await listener.listen(to: signals) }
            defer { tasks.cancelAll() }
            try await group.run()
        }
    }

    private func makeFetcher(_ store: any WorkerStore & ReaderStore, _ logger: Logger) throws -> Fetcher {
        do {
            var configuration = try command.sources.configuration(deniedFolder: store.folder, budget: budget)
            try command.http.configure(&configuration)
            command.cache.configure(&configuration)
            configuration.loadsVideosInParts = access(command.render.framesExecutable, X_OK) == 0
            configuration.noteDroppedCredentials = { target in
                logger.warning(
                    "a redirect's credentials were not sent to another origin",
                    metadata: ["url": "\(SourceName.of(target))"]
                )
            }
            let cache = command.cache.budget.map { StoredAnswers(store: store, budget: $0, logger: logger) }
            return try Fetcher(configuration, cache: cache)
        } catch let error as FetchConfigurationError {
            throw error.failure(of: command)
        }
    }

    private func makeDeliverer(_ store: any Store, _ logger: Logger) throws -> HookDeliverer {
        let settings = try command.hooks.settings()
        let client = try Result { () throws(FetchConfigurationError) in try PostClient() }
            .mapError { $0.failure(of: command) }.get()
        return HookDeliverer(settings, store: store, client: client, logger: logger)
    }

    /// Detects a renderer that cannot start before a job is claimed, so that no job loses an attempt to it.
    private func probe(_ renderer: RendererPool) async throws {
        do throws(RendererUnavailable) {
            try await renderer.waitUntilReady()
        } catch {
            await renderer.shutdown()
            throw CommandFailure("no renderer can be started: \(error)", .failed)
        }
    }

    /// A logger that is never quiet: warnings come before the progress bar.
    var warnings: Logger { command.log.logger(Live(command.log.level(quiet: false)), label: "cameo-worker") }

    private func warnOfUnknownVariables() throws {
        let options = try EnvironmentOptions.variables(of: CameoWorkerCommand.self, prefix: CameoVariables.prefix)
        for name in CameoVariables.unknown(in: ProcessInfo.processInfo.environment, options: options) {
            warnings.warning("the environment variable \(name) has no effect: no option has this name")
        }
    }

    /// For how many jobs at once the descriptors suffice: a job that fails for want of one uses up an attempt in a drain. A
    /// worker without jobs has forty, and four for each renderer.
    private var affordableJobs: Int { (ProcessPriority.allowOpenFiles(0) - 40 - 4 * command.render.processes) / 6 }

    /// Jobs that find no descriptor are given back: they would go round in circles.
    private func warnOfFewOpenFiles() throws(CommandFailure) {
        // The store's connections and logs; a job's source, its copy in memory and a connection; a renderer's socket, pipe
        // and process, which a video's programs need too.
        let (renderers, fetchers) = (command.render.processes, command.sources.fetchConcurrency)
        let jobs = command.work.configuration(renderers: renderers).concurrency
        let needed = 64 + 6 * (jobs + fetchers) + 8 * renderers
        let limit = ProcessPriority.allowOpenFiles(needed)
        guard limit < needed else { return }
        guard affordableJobs > 0 else {
            let reason = "\(limit) open files are too few for a worker with \(renderers) renderers"
            throw CommandFailure("\(reason): raise `ulimit -n` to \(needed)", .failed)
        }
        warnings.warning(
            """
            \(limit) open files may be too few for \(jobs) jobs and \(renderers) renderers, which may need \(needed): at most \
            \(workConfiguration.concurrency) run at once. Raise `ulimit -n` (systemd: LimitNOFILE), or lower --concurrency
            """
        )
    }

    private func warnOfWhatIsMissing(_ renderer: RendererPool, _ logger: Logger) {
        let missing = renderer.missingSandboxLayers
        if !missing.isEmpty {
            logger.warning(
                "the renderers' sandbox is incomplete: this kernel lacks \(missing.joined(separator: " and "))",
                metadata: ["missing": "\(missing.joined(separator: ","))"]
            )
        }
        for lack in renderer.lacks {
            logger.warning("this host cannot \(lack.activity): \(lack.remedy)", metadata: ["lack": "\(lack)"])
        }
    }

    private func logStart(_ worker: Worker, _ store: any AnyStore, _ logger: Logger) {
        if let caution = store.caution { logger.warning("\(caution)") }
        if command.work.quietHours != nil, let fault = LocalTime.fault() {
            logger.warning("the quiet hours go by UTC: \(fault)")
        }
        store.onCommitWait { logger.warning("\($0)") }
        let metadata: Logger.Metadata = [
            "worker": "\(worker.id)", "store": "\(store.location)",
            "concurrency": .stringConvertible(workConfiguration.concurrency),
            "renderers": .stringConvertible(command.render.processes),
        ]
        logger.info("started", metadata: metadata)
    }

    /// Prints a line for each format and codec: its name, what can be done with it, and what would mend the rest.
    private func printFormats() async throws {
        let renderer = try makeRenderer()
        try await probe(renderer)
        let lacks = Set(renderer.lacks)
        await renderer.shutdown()
        func word(_ lack: HostLack) -> String { lacks.contains(lack) ? "no" : "yes" }
        var lines: [[String]] = []
        let optional = try rendererConfiguration().allowedFormats
        for format in PictureFormat.allCases where format != .initials && format != .video {
            let reading =
                PictureFormat.optional.contains(format) && !optional.contains(format)
                ? "with --allow-format \(format.rawValue)" : word(.reading(format))
            let writing = Rendition.Format(rawValue: format.rawValue).map(HostLack.writing)
            let remedies = [.reading(format), writing].compactMap(\.self).filter(lacks.contains).map(\.remedy)
            lines.append([format.name, reading, writing.map(word) ?? "-", remedies.joined(separator: ", ")])
        }
        let rest = access(command.render.framesExecutable, X_OK) == 0 ? ["yes", "-", ""] : ["no", "-", "cameo-frames"]
        let codecs = VideoFacts.Codec.allCases.map { "\($0.rawValue) (\($0.isOnlyOfCovers ? "cover" : "video"))" }
        lines += (VideoContainer.allCases.map(\.name) + codecs).map { [$0] + rest }
        let keys = ["format", "reads", "writes", "remedy"]
        let text = ([keys.map { $0.uppercased() }] + lines).map { $0.joined(separator: "\t") }
        let message = lines.map { Dictionary(uniqueKeysWithValues: zip(keys, $0)) }
        try Output.answer(message, asJSON: command.render.json, text)
    }

    private func rendererConfiguration() throws -> RendererConfiguration {
        var configuration = command.render.configuration()
        try command.pictures.configure(&configuration)
        return configuration
    }

    private func makeRenderer() throws -> RendererPool { try RendererPool(rendererConfiguration()) }

    /// An id that sorts by start time and is unique among all workers that the store ever had.
    private static func freshID() -> String {
        let random = (0..<4).map { _ in UInt8.random(in: 0...255) }
        return
            "w\(Int(Date().timeIntervalSince1970))-\(ProcessInfo.processInfo.processIdentifier)-\(Hexadecimal.encode(random))"
    }

    /// Warns of queues that do not exist: with a mistyped name, the worker would never have anything to do.
    func warnOfUnknownQueues(_ store: any ReaderStore) async throws {
        guard let chosen = command.work.chosenQueues else { return }
        let known = Set(try await store.queues().map(\.name))
        for name in chosen where !known.contains(name) {
            warnings.warning("there is no queue \(name) yet; --queues waits for it")
        }
    }

    /// Warns of paused queues with jobs, which a drain leaves behind.
    func warnOfPausedQueues(_ store: any ReaderStore) async throws {
        for queue in try await store.queues() where queue.paused && isChosen(queue.name) {
            warn(of: queue, "is paused", JobState.allCases.filter { !$0.isFinal })
        }
    }

    /// Warns of background queues whose jobs a drain leaves to the quiet hours.
    func warnOfQuietQueues(_ store: any ReaderStore) async throws {
        guard let hours = command.work.quietHours, !hours.contains(.now) else { return }
        for queue in try await store.queues() where queue.isBackground && !queue.paused && isChosen(queue.name) {
            warn(of: queue, "is open from \(hours)", [.available, .retryable])
        }
    }

    /// Warns of a queue with jobs in these states.
    private func warn(of queue: StatusReport.Queue, _ condition: String, _ states: [JobState]) {
        let waiting = states.reduce(0) { $0 + (queue.jobs[$1] ?? 0) }
        guard waiting > 0 else { return }
        let verb = waiting == 1 ? "waits" : "wait"
        warnings.warning("the queue \(queue.name) \(condition): \(AmountText.count(waiting, "job")) \(verb) in it")
    }

    private func isChosen(_ queue: String) -> Bool { command.work.chosenQueues?.contains(queue) ?? true }
}
