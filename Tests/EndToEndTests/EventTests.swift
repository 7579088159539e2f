import CameoModel
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `cameo-status events`: every change once, in commit order, from wherever a reader has got to.
    @Suite(.timeLimit(.minutes(10)))
    struct EventTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
        }

        private func events(_ arguments: String...) async throws -> [JobChange] {
            let result = try await deployment.command("cameo-status", ["events"] + arguments)
            #expect(result.exitStatus == 0 && result.errorText.isEmpty, "\(result.errorText)")
            return try Self.changes(Data(result.outputText.utf8))
        }

        private static func changes(_ output: Data) throws -> [JobChange] {
            // The last line may be half written.
            try output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast().map {
                try WireFormat.decode(JobChange.self, from: Data($0))
            }
        }

        @Test func everyChangeIsToldOnceInItsOrder() async throws {
            let jobs = try await deployment.enqueue(["pictures/photo.jpg", "pictures/none.jpg", "--max-attempts", "1"])
                .map { try $0.jobID }
            #expect(try await deployment.drain().exitStatus == 1)
            let all = try await events()
            try #require(all.map(\.cursor) == [1, 2, 3, 4, 5, 6])
            let states = jobs.map { job in all.filter { $0.job == job }.map(\.state) }
            #expect(states == [[.available, .running, .completed], [.available, .running, .discarded]])
            #expect(try await events("--since", "\(all[2].cursor)") == Array(all.dropFirst(3)))
            #expect(try await events("--since", "\(all.count)").isEmpty)
            #expect(try await events("--state", "discarded", "--state", "completed").count == 2)
        }

        @Test func aReaderThatFollowsSeesWhatComes() async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg")
            let follow = try ChildProcess(
                try Deployment.executable("cameo-status"),
                ["events", "--follow", "--since", "0"],
                environment: ["CAMEO_STORE": deployment.store]
            )
            defer { follow.killGroup() }
            #expect(try await deployment.drain().exitStatus == 0)
            let expected = try await events()
            try await eventually("the reader has seen what came") {
                follow.standardOutput.count { $0 == UInt8(ascii: "\n") } >= expected.count
            }
            #expect(try Self.changes(follow.standardOutput) == expected)
        }

        @Test func whatIsNoLongerKeptIsNamed() async throws {
            _ = try await deployment.enqueue("data:,no%20picture", "--max-attempts", "1")
            _ = try await deployment.drain()
            _ = try await deployment.sql("DELETE FROM change WHERE seq < 3;")
            let result = try await deployment.command("cameo-status", ["events", "--since", "1"])
            #expect(result.exitStatus == 0 && result.outputText.split(separator: "\n").count == 1)
            #expect(result.errorText.contains("the changes 2 to 2 are no longer kept"), "\(result.errorText)")
            #expect(try await deployment.command("cameo-status", ["events", "--since", "-1"]).exitStatus == 2)
        }
    }
}
