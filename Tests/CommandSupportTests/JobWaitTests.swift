import CameoEngine
import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CommandSupport

@Suite(.timeLimit(.minutes(10)))
struct JobWaitTests {
    /// With the changes that tell of its end, or without them: retention removes both.
    @Test(arguments: [nil, Duration.zero])
    func aJobThatEndsAndIsRemovedBetweenTwoLooksHasEnded(ended: Duration?) async throws {
        let folder = try TemporaryFolder()
        let store = try Engine.open(folder.url.path, creating: true)
        let turn = try await store.freeTurn()
        var retention = Retention()
        (retention.cancelled, retention.completed, retention.discarded) = (.zero, ended, ended)
        for round in 1...60 {
            let request = ThumbnailRequest(source: "initials:\(round)", renditions: [Rendition(width: 16)])
            let receipts = try await store.enqueue([request])
            let ids = receipts.compactMap(\.id)
            let wait = Task { try await JobWait(store: store, timeout: .seconds(60)).untilFinished(ids) }
            // From one to thirty milliseconds: before, between and after its looks.
            try await Task.sleep(for: .milliseconds(round % 30))
            for id in ids { _ = try await store.cancel(id) }
            // Not in the millisecond in which they ended.
            while try await !store.states(of: ids).isEmpty { _ = try await store.prune(retention, in: turn) }
            _ = try await wait.value
        }
    }
}
