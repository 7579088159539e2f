internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Makes jobs available at once, with all their attempts before them again."
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "Numbers of jobs.")
    var id: [Int64]

    func run() async throws {
        let store = try Store(at: storeOptions.path, creating: false)
        try await changeJobs(id) { id in
            let before = try await store.retry(id)
            return before == .available || before == .running
                ? "job \(id) is \(before.rawValue) already" : "job \(id) was \(before.rawValue), is available"
        }
    }
}
