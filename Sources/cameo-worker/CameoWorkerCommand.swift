internal import ArgumentParser
internal import CameoHooks
internal import CameoModel
internal import CameoSystem
internal import CameoWorker
internal import CommandLogging
internal import CommandSupport
internal import Foundation
internal import Glibc
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

@main
struct CameoWorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cameo-worker",
        abstract: "Make the thumbnails of enqueued jobs.",
        discussion: """
            Runs until SIGTERM or SIGINT (Ctrl-C), then finishes its running jobs. Jobs that still run after the grace \
            period, or at a second signal, are returned to the queue and lose no attempt. SIGHUP reads --settings, \
            --host-headers and --hooks again.

            Every option can also come from the environment: --fetch-concurrency from CAMEO_FETCH_CONCURRENCY, and so \
            on; repeatable options take comma-separated values, flags take 1. The worker warns of CAMEO_ variables \
            that are no options. \(Duration.explanation) \(ByteCount.explanation)

            EXAMPLES
              cameo-worker --allow-root /srv/pictures
              cameo-worker --drain
              CAMEO_STORE=/var/lib/cameo CAMEO_LOG_FORMAT=json cameo-worker

            EXIT CODES
              0 done, 1 a drain discarded a job or no renderer can be started, 2 bad usage, 3 a drain was stopped \
            early, 4 the store cannot be opened or written
            """,
        version: CameoVersion.current
    )

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup(title: "Work Options") var work: WorkOptions
    @OptionGroup(title: "Source Options") var sources: SourceOptions
    @OptionGroup(title: "HTTP Options") var http: HTTPOptions
    @OptionGroup(title: "Cache Options") var cache: CacheOptions
    @OptionGroup(title: "Hook Options") var hooks: HookOptions
    @OptionGroup(title: "Render Options") var render: RenderOptions
    @OptionGroup(title: "Picture Options") var pictures: PictureOptions
    @OptionGroup(title: "Retention Options") var retention: RetentionOptions
    @OptionGroup(title: "Log Options") var log: LogOptions

    func run() async throws {
        try await WorkerApp(self).run()
    }

    static func main() async {
        await CommandMain.run(Self.self, environmentPrefix: CameoVariables.prefix)
    }
}

/// Who is told of ended jobs.
struct HookOptions: ParsableArguments {
    @Option(
        help: """
            A JSON file of hooks, which are told of the ends of jobs that name them: {"hooks": {"site": {"url": …, \
            "secretFile": …}}}. (default: none)
            """.taking("file"),
        completion: .file()
    )
    var hooks: String?

    func settings() throws -> HookSettings {
        guard let path = hooks else { return HookSettings() }
        let data = try InputFile.read(path, of: "--hooks \(path)")
        return try CommandFailure.naming("--hooks \(path)") {
            try HookSettings(try HookFile(parsing: data)) { path throws(Errno) in try InputFile.read(path) }
        }
    }
}

/// The signals of a running worker. SIGTERM and SIGINT let running jobs finish; a second one returns them to the queue, and
/// ends the worker even if that cannot be written. SIGHUP, which a closing terminal sends too, makes the worker read its
/// settings again.
struct WorkerSignals {
    let worker: Worker
    let group: ServiceGroup
    let logger: Logger
    let reload: @Sendable () async -> Void

    /// A stop often arrives twice: `timeout`, for example, signals its child and then the child's process group.
    private static let echo = Duration.milliseconds(250)

    /// How long jobs may take to be returned: the store may be locked, or out of reach.
    private static let patience = Duration.seconds(5)

    /// Listens until its task is cancelled.
    func listen(to signals: UnixSignalsSequence) async {
        var stoppedAt: ContinuousClock.Instant?
        for await signal in signals {
            guard signal != .sighup else {
                await reload()
                continue
            }
            switch stoppedAt {
            case nil:
                stoppedAt = .now
                if signal == .sigint, Output.errorIsTerminal { Output.error("finishing; press again to stop now") }
                await group.triggerGracefulShutdown()
            case .some(let time) where time.duration(to: .now) > Self.echo:
                logger.info("returning running jobs")
                worker.giveBack()
                // Unless the process ends by itself. Whoever has the store open then takes over its jobs.
                Task {
                    try? await Task.sleep(for: Self.patience)
                    logger.warning("ending before all running jobs were returned; another worker will take them")
                    Output.drain()
                    _exit(128 + signal.rawValue)
                }
            case .some: break
            }
        }
    }
}

/// Refuses a number out of its range, naming the option.
func require<Number: Comparable & ExpressibleByIntegerLiteral>(
    _ number: Number,
    atLeast least: Number,
    atMost most: Number = 1_000_000_000,
    _ option: String
) throws {
    guard number >= least, number <= most else {
        throw ValidationError("\(option) \(number): must be between \(least) and \(most)")
    }
}

/// Refuses a duration that is too short, naming the option.
func require(_ time: Duration, atLeast least: Duration, _ option: String) throws {
    guard time >= least else {
        throw ValidationError("\(option) \(time.argument): must be at least \(least.argument)")
    }
}

/// Refuses a size that is too small, or too large for any machine, naming the option.
func require(_ size: ByteCount, atLeast least: ByteCount, _ option: String) throws {
    let most = ByteCount(1 << 40)
    guard size >= least, size <= most else {
        throw ValidationError("\(option) \(size): must be between \(least) and \(most)")
    }
}

/// Reads a size as bytes.
func byteCount(_ text: String) throws -> Int {
    if let size = ByteCount(argument: text) { return size.bytes }
    throw ValidationError("\(text) is no size such as 64K")
}
