internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Calls jobs off. A running one is stopped and leaves nothing."
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "Numbers of jobs.")
    var id: [Int64]

    func run() async throws {
        let store = try Store(at: storeOptions.path, creating: false)
        try await changeJobs(id) { id in
            let before = try await store.cancel(id)
            return before.isFinal ? "job \(id) had ended already: \(before.rawValue)" : "job \(id) is cancelled"
        }
    }
}
