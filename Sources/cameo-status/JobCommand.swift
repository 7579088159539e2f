internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct JobCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Everything about one job: its state, its failure, its thumbnails, each attempt.",
        discussion: """
            With --wait it shows the job that took its place, if one did. \(DurationArgument.explanation)

            EXAMPLES
              cameo-status job 17
              cameo-status job 17 --wait --wait-timeout 60 --json

            EXIT CODES
              0 done, 1 the job was discarded or cancelled, or is not there, 2 bad usage, 3 not finished in time, 4 the \
            store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The job's number.")
    var id: Int64

    @OptionGroup var waiting: WaitOptions

    @Flag(help: "Prints a job (JSON).")
    var json = false

    func run() async throws {
        let store = try storeOptions.openReading()
        var job = try await store.job(id)
        if waiting.wait {
            _ = try await JobWait(store: store, timeout: waiting.timeout).untilFinished([id])
            job = try await store.jobInPlace(of: id)
        }
        if json {
            try Output.message(job)
        } else {
            Output.lines(JobText.lines(job, escape: TerminalText.escaped))
        }
        if job.state == .discarded || job.state == .cancelled { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
