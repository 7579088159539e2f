import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `cameo-admin migrate`, by the commands that a user has.
    @Suite(.timeLimit(.minutes(10)), .serialized)
    struct MigrateTests {
        private struct Report: Decodable {
            let from, to: String
            let wasBegun: Bool
            let records: [String: Int]
            let bytes: Int
            let different, damaged: [String]
        }

        private func report(_ result: ProcessResult) throws -> Report {
            try JSONDecoder().decode(Report.self, from: result.standardOutput)
        }

        @Test func aStoreMovesToAnotherFolderAndNamesIt() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:JD", "initials:AL", "--batch", "all")
            #expect(try await deployment.drain().exitStatus == 0)
            _ = try await deployment.enqueue("initials:GH")
            let new = deployment.folder.path("new")
            let moved = try await deployment.command("cameo-admin", ["migrate", "--to", new, "--json"])
            #expect(moved.exitStatus == 0, "\(moved.errorText)")
            let found = try report(moved)
            #expect((found.from, found.to, found.wasBegun) == (deployment.store, new, false))
            #expect((found.records["job"], found.records["thumbnail"], found.records["task"]) == (3, 2, 1))
            let verified = try await deployment.command("cameo-admin", ["migrate", "--to", new, "--verify-only"])
            #expect(
                verified.exitStatus == 0 && verified.outputText.contains("are the same in"),
                "\(verified.errorText)"
            )

            for command in [
                ["cameo-enqueue", "initials:XY"], ["cameo-worker", "--drain"], ["cameo-admin", "retry", "1"],
            ] {
                let refused = try await deployment.command(command[0], Array(command.dropFirst()))
                #expect(refused.exitStatus == 4)
                #expect(refused.errorText.contains("it has moved to \(new)"), "\(refused.errorText)")
            }
            let read = try await deployment.command("cameo-status", ["batch", "all"])
            #expect(read.exitStatus == 0, "\(read.errorText)")
            let there: [String: String?] = ["CAMEO_STORE": new]
            let drained = try await deployment.command("cameo-worker", ["--drain"], environment: there)
            #expect(drained.exitStatus == 0, "\(drained.errorText)")
            let checked = try await deployment.command("cameo-admin", ["check"], environment: there)
            #expect(checked.exitStatus == 0 && !checked.outputText.contains("warning"), "\(checked.outputText)")
            let again = try await deployment.command("cameo-admin", ["migrate", "--to", new])
            #expect(again.exitStatus == 0 && again.outputText.contains("had moved"), "\(again.errorText)")
        }

        @Test func mistakesAreNamedAndAMoveCanBeGivenUp() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:JD")
            func refused(_ arguments: String...) async throws -> (status: Int32, text: String) {
                let result = try await deployment.command("cameo-admin", ["migrate"] + arguments)
                return (result.exitStatus, result.errorText)
            }
            let new = deployment.folder.path("new")
            for arguments in [[], ["--to", new, "--cancel"], ["--to", ""], ["--cancel", "--verify-only"]] {
                let result = try await deployment.command("cameo-admin", ["migrate"] + arguments)
                #expect(result.exitStatus == 2, "\(arguments) \(result.errorText)")
            }
            #expect(try await refused("--to", deployment.store).status == 2)
            #expect(try await refused("--cancel").text.contains("is not moving"))
            let worker = try deployment.startWorker()
            try await deployment.waitUntil { try await $0.status().workers.contains(where: \.isAlive) }
            let (status, text) = try await refused("--to", new)
            #expect(status == 1 && text.contains("worker stop --all"), "\(text)")
            worker.send(SIGTERM)
            #expect(await worker.ending == .exited(0))

            #expect(try await deployment.command("cameo-admin", ["migrate", "--to", new]).exitStatus == 0)
            #expect(try await deployment.command("cameo-enqueue", ["initials:XY"]).exitStatus == 4)
            let cancelled = try await deployment.command("cameo-admin", ["migrate", "--cancel", "--json"])
            #expect(cancelled.exitStatus == 0, "\(cancelled.errorText)")
            let given = try JSONDecoder().decode([String: String].self, from: cancelled.standardOutput)
            #expect(given == ["from": deployment.store, "to": new])
            #expect(try await deployment.command("cameo-enqueue", ["initials:XY"]).exitStatus == 0)
        }

        /// The command dies by SIGKILL again and again, and goes on.
        @Test(.enabled(if: Fleet.isBuilt)) func killsInTheMiddleLoseNothingAndDoubleNothing() async throws {
            let fleet = try await Fleet()
            let deployment = fleet.deployment
            for index in 0..<4 { try deployment.add(try await Pictures.photo("jpg"), as: "p\(index).jpg") }
            _ = try await deployment.enqueue("pictures/*", "--size", "64x64:cover:webp", "--size", "600x:png")
            #expect(try await deployment.drain().exitStatus == 0)
            // Waiting jobs of several pages, by SQL.
            let count = TestLength.rounds(20_000, full: 100_000)
            _ = try await deployment.sql(
                """
                INSERT INTO job(request)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                SELECT '{"source": "initials:N' || i || '", "renditions": [{"width": 16}]}' FROM n;
                """
            )
            let arguments = ["migrate", "--to", fleet.store, "--json"]
            var (kills, arrived) = (0, -1)
            while kills < 5 {
                let mover = try fleet.startOnFolder("cameo-admin", "migrate", "--to", fleet.store)
                // Killed once it has brought something.
                var now = arrived
                while now <= arrived, mover.send(0) {
                    try await Task.sleep(for: .milliseconds(5))
                    now =
                        (try? await fleet.number("SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM accepted)"))
                        ?? -1
                }
                mover.send(SIGKILL)
                guard await mover.ending == .signalled(SIGKILL) else { break }
                (kills, arrived) = (kills + 1, now)
            }
            #expect(kills == 5, "it was not killed in the middle")
            let enqueued = try await deployment.command("cameo-enqueue", ["initials:XY"])
            #expect(enqueued.exitStatus == 4 && enqueued.errorText.contains("it is moving to"), "\(enqueued.errorText)")
            let moved = try await fleet.command(
                "cameo-admin",
                arguments[0],
                arguments[1],
                arguments[2],
                arguments[3],
                environment: ["CAMEO_STORE": deployment.store]
            )
            #expect(moved.exitStatus == 0, "\(moved.errorText)")
            let found = try report(moved)
            #expect(found.wasBegun && found.different.isEmpty)
            #expect((found.records["job"], found.records["task"], found.records["thumbnail"]) == (count + 4, count, 8))
            #expect(try await fleet.number("SELECT count(*) FROM job") == count + 4)
            #expect(try await fleet.number("SELECT available FROM queue_total") == count)

            // A worker goes on there, and everything comes back.
            let request = #"{"source": "initials:ZZ", "renditions": [{"width": 16}], "priority": 9}"#
            _ = try await fleet.sql("INSERT INTO job(request) VALUES ('\(request)')")
            let worker = try fleet.startWorker()
            try await eventually("the job is completed") {
                try await fleet.number("SELECT count(*) FROM outcome WHERE id = \(count + 5) AND state = 4") > 0
            }
            worker.send(SIGTERM)
            #expect(await worker.ending == .exited(0))
            let back = deployment.folder.path("back")
            let returned = try await fleet.command("cameo-admin", "migrate", "--to", back, "--json")
            #expect(returned.exitStatus == 0, "\(returned.errorText)")
            #expect(try report(returned).records["job"] == count + 5)
            let checked = try await deployment.command("cameo-admin", ["check", "--store", back])
            #expect(checked.exitStatus == 0, "\(checked.outputText)")
        }
    }
}
