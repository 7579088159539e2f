internal import CameoReport
internal import CameoStore
internal import Foundation

/// Tells somebody who waits for jobs why nothing happens, where the store shows a reason.
struct StandstillWatch {
    private static let interval = Duration.seconds(2)
    private var next = ContinuousClock.now + interval
    private var told: Set<String> = []
    /// For a progress bar; empty if there is none.
    private(set) var reason = ""

    /// Looks into the store now and then. Without a progress bar, each reason is printed once.
    mutating func look(at store: any Store) async throws {
        guard ContinuousClock.now >= next else { return }
        next = .now + Self.interval
        let reasons = try await store.status().standstills.map(TerminalText.escaped)
        reason = reasons.first ?? ""
        guard !Output.errorIsTerminal else { return }
        for reason in reasons where told.insert(reason).inserted {
            Output.error("\(ProcessInfo.processInfo.processName): \(reason)")
        }
    }
}
