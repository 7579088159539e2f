import Cameo
import Foundation
import FoundationNetworking
import StoreConformance
import TestSupport
import Testing

/// Loads in great number, and at once.
@Suite(.timeLimit(.minutes(10)), .origin)
struct ManyLoadsTests {
    @Test(.enabled(if: TestLength.isWhole, "--all")) func twoThousandLoadsOneAfterTheOther() async throws {
        let (reader, path) = try await Reader.scripted(.fresh())
        let uri = try await reader.client.store(Workbench.picture(1))
        for _ in 0..<1_000 {
            #expect(try await reader.get(path).text == "picture")
            #expect(try await reader.get(uri.url).data == Workbench.picture(1))
        }
        #expect(try await reader.count(path) == 1)
    }

    @Test func twoHundredLoadsAtOnce() async throws {
        let reader = try Reader(ReadThrough(defaultLifetime: .seconds(600)))
        for _ in 0..<2 {
            let texts = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                for index in 0..<200 {
                    let count = 1_000 + index
                    group.addTask { (count, try await reader.get("/bytes?count=\(count)").data.count) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts.count == 200 && texts.allSatisfy { $0.0 == $0.1 })
        }
        #expect(try await reader.origin.counts().requests["/bytes"] == 200)
    }

    /// Foundation ends the process when a task is told its end after it was cancelled.
    @Test func loadsMayBeCancelledAtAnyMoment() async throws {
        let (reader, path) = try await Reader.scripted(
            ScriptedAnswer(200, ["Cache-Control: max-age=0"], body: "picture")
        )
        for index in 0..<300 {
            let load = Task { try await reader.get(path).text }
            try await Task.sleep(for: .microseconds(index % 100 * 60))
            load.cancel()
            if case .success(let text) = await load.result { #expect(text == "picture") }
        }
        #expect(try await reader.get(path).text == "picture")
    }
}
