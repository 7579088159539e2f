internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Make jobs available again, with all their attempts.",
        discussion: """
            Earlier attempts stay in the history (`cameo-status job ID`). A selection matches discarded jobs only, \
            unless --state says otherwise, and is changed in small transactions that do not block others.

            EXAMPLES
              cameo-admin retry 17 18
              cameo-admin retry --state discarded --code source.timeout
              cameo-admin retry --code source.httpStatus --source https://shop.example/ --limit 1000 --dry-run

            EXIT CODES
              0 done, 1 a job does not exist, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var jobs: ChosenJobs

    func run() async throws {
        try await jobs.change(by: .retry, done: "available again") { store, id in
            let retried = try await store.retry(id)
            let before = retried.before
            if case .superseded(let duplicate) = retried.settlement {
                return "job \(id) was \(before.rawValue), is cancelled: job \(duplicate) waits for the same thumbnails"
            }
            return BulkChange.retry.applies(to: before)
                ? "job \(id) was \(before.rawValue), is available" : "job \(id) is already \(before.rawValue)"
        }
    }
}
