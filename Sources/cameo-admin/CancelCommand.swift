internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel jobs. A running job is stopped and leaves no thumbnails.",
        discussion: """
            A selection matches all unfinished jobs, unless --state says otherwise, and is changed in small \
            transactions that do not block others.

            EXAMPLES
              cameo-admin cancel 19
              cameo-admin cancel --batch holiday
              cameo-admin cancel --state retryable --code source.unreachable --dry-run

            EXIT CODES
              0 done, 1 a job does not exist, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var jobs: ChosenJobs

    func run() async throws {
        try await jobs.change(by: .cancel, done: "cancelled") { store, id in
            let before = try await store.cancel(id)
            return before.isFinal ? "job \(id) had already ended: \(before.rawValue)" : "job \(id) is cancelled"
        }
    }
}
