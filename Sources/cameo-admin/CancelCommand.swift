internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Calls jobs off. A running one is stopped and leaves nothing.",
        discussion: """
            Many at once: those that the options choose, all that have not ended unless --state says otherwise, in small \
            transactions that hold up nobody.

            EXAMPLES
              cameo-admin cancel 19
              cameo-admin cancel --batch holiday
              cameo-admin cancel --state retryable --code source.unreachable --dry-run

            EXIT CODES
              0 done, 1 a job is not there, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var jobs: ChosenJobs

    func run() async throws {
        try await jobs.change(by: .cancel, done: "cancelled") { store, id in
            let before = try await store.cancel(id)
            return before.isFinal ? "job \(id) had ended already: \(before.rawValue)" : "job \(id) is cancelled"
        }
    }
}
