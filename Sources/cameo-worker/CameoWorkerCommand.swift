internal import ArgumentParser
internal import CameoHooks
internal import CameoModel
internal import CommandLogging
internal import CommandSupport
internal import Foundation

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
            that are no options. \(DurationArgument.explanation) \(ByteCount.explanation)

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
        help: ArgumentHelp(
            """
            A JSON file of hooks, which are told of the ends of jobs that name them: {"hooks": {"site": {"url": …, \
            "secretFile": …}}}. (default: none)
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var hooks: String?

    func settings() throws -> HookSettings {
        guard let path = hooks else { return .none }
        let data: Data
        do throws(Errno) {
            data = try InputFile.read(path)
        } catch {
            throw CommandFailure("--hooks \(path): cannot be read: \(error)", .usage)
        }
        do throws(InvalidRequest) {
            return try HookSettings(try HookFile(parsing: data)) { path throws(Errno) in try InputFile.read(path) }
        } catch {
            throw CommandFailure("--hooks \(path): \(error)", .usage)
        }
    }
}
