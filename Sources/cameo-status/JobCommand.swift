internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct JobCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Show one job: its state, failure, thumbnails and attempts.",
        discussion: """
            If another job superseded it, --wait shows that job. \(DurationArgument.explanation)

            EXAMPLES
              cameo-status job 17
              cameo-status job 17 --wait --wait-timeout 60 --json

            EXIT CODES
              0 done, 1 the job was discarded or cancelled, or does not exist, 2 bad usage, 3 not finished in time, 4 \
            the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The job's id.")
    var id: Int64

    @OptionGroup var waiting: WaitOptions

    @Flag(help: "Print the job as JSON.")
    var json = false

    func run() async throws {
        let store = try storeOptions.openReading()
        var job = try await store.job(id)
        if waiting.wait {
            _ = try await JobWait(store: store, timeout: waiting.timeout).untilFinished([id])
            job = try await store.jobInPlace(of: id)
        }
        if json {
            try Output.message(job.withoutSecrets)
        } else {
            Output.lines(JobText.lines(job, escape: TerminalText.escaped))
        }
        if job.state == .discarded || job.state == .cancelled { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
