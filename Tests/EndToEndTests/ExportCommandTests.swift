import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `cameo-admin export` and `import`, by the commands that a user has.
    @Suite(.timeLimit(.minutes(10)), .serialized)
    struct ExportCommandTests {
        private struct Report: Decodable {
            struct Sum: Decodable, Equatable {
                let count: Int
                let digest: String
            }

            let store: String
            let wasBegun: Bool
            let records: [String: Sum]
            let bytes: Int
            let different: [String]
        }

        private func report(_ result: ProcessResult) throws -> Report {
            try JSONDecoder().decode(Report.self, from: result.standardOutput)
        }

        private func shell(
            _ deployment: Deployment,
            _ command: String,
            environment: [String: String?] = ["CAMEO_STORE": nil]
        ) async throws -> ProcessResult {
            try await deployment.shell(command, environment: environment)
        }

        @Test func aStoreIsCopiedThroughAPipeAndAFile() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:JD initials:AL --batch all")
            #expect(try await deployment.drain().exitStatus == 0)
            _ = try await deployment.enqueue("initials:GH")
            let piped = try await shell(
                deployment,
                "cameo-admin export '\(deployment.store)' | cameo-admin import --store new --json"
            ).succeeded()
            let found = try report(piped)
            #expect(found.store == deployment.folder.path("new") && !found.wasBegun && found.different.isEmpty)
            #expect(found.records["job"]?.count == 3 && found.records["thumbnail"]?.count == 2)
            let filed = try await shell(
                deployment,
                "cameo-admin export --store new | gzip > e.gz && gzip -dc e.gz | cameo-admin import third --json"
            )
            #expect(try report(filed).records == found.records, "\(filed.errorText)")
            let there: [String: String?] = ["CAMEO_STORE": deployment.folder.path("third")]
            try await deployment.command("cameo-worker --drain", environment: there).succeeded()
            let checked = try await deployment.command("cameo-admin check", environment: there)
            #expect(checked.exitStatus == 0 && !checked.outputText.contains("warning"), "\(checked.outputText)")
        }

        @Test func mistakesAreNamed() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:JD")
            let twice = try await deployment.command("cameo-admin export --store a b")
            #expect(twice.exitStatus == 2 && twice.errorText.contains("name the store once"), "\(twice.errorText)")
            let missing = try await shell(deployment, "cameo-admin export nowhere | cat")
            #expect(missing.exitStatus == 4, "\(missing.errorText)")
            let none = try await shell(deployment, "echo no export | cameo-admin import new")
            #expect(none.exitStatus == 1 && none.errorText.contains("is not an export"), "\(none.errorText)")
            let own = try await shell(
                deployment,
                "cameo-admin export '\(deployment.store)' | cameo-admin import '\(deployment.store)'"
            )
            #expect(own.exitStatus == 4 && own.errorText.contains("--add"), "\(own.errorText)")
            let full = try await shell(deployment, "cameo-admin export '\(deployment.store)' > /dev/full")
            #expect(full.exitStatus == 1 && full.errorText.contains("cannot write"), "\(full.errorText)")
        }

        /// The import dies by SIGKILL again and again, and goes on.
        @Test(.enabled(if: Fleet.isBuilt)) func killsInTheMiddleLoseNothingAndDoubleNothing() async throws {
            let fleet = try await Fleet()
            let deployment = fleet.deployment
            for index in 0..<4 { try deployment.add(try await Pictures.photo("jpg"), as: "p\(index).jpg") }
            _ = try await deployment.enqueue("pictures/* --size 64x64:cover:webp --size 600x:png")
            #expect(try await deployment.drain().exitStatus == 0)
            // Waiting jobs of several pages, by SQL.
            let count = TestLength.rounds(4_000, full: 100_000)
            _ = try await deployment.sql(
                """
                INSERT INTO job(request)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                SELECT '{"source": "initials:N' || i || '", "renditions": [{"width": 16}]}' FROM n;
                """
            )
            try await shell(deployment, "cameo-admin export '\(deployment.store)' > export").succeeded()
            let program = try Deployment.executable("cameo-admin")
            for kill in 0..<5 {
                let importer = try ChildProcess(
                    "/bin/bash",
                    ["-c", "exec '\(program)' import '\(fleet.store)' < '\(deployment.folder.path("export"))'"],
                    environment: fleet.variables
                )
                // Killed once it has brought something.
                let before = kill * count / 10
                try await eventually("more than \(before) jobs are there") {
                    (try? await fleet.number("SELECT count(*) FROM job")) ?? 0 > before
                }
                #expect(await importer.stop(SIGKILL) == .signalled(SIGKILL), "it was not killed in the middle")
            }
            let imported = try await shell(
                deployment,
                "cameo-admin import '\(fleet.store)' --json < '\(deployment.folder.path("export"))'",
                environment: fleet.variables
            ).succeeded()
            let found = try report(imported)
            #expect(found.wasBegun && found.different.isEmpty)
            #expect(found.records["job"]?.count == count + 4 && found.records["thumbnail"]?.count == 8)
            // A worker goes on there, and everything comes back.
            let request = #"{"source": "initials:ZZ", "renditions": [{"width": 16}], "priority": 9}"#
            _ = try await fleet.sql("INSERT INTO job(request) VALUES ('\(request)')")
            let worker = try fleet.startWorker()
            try await eventually("the job is completed") {
                try await fleet.number("SELECT count(*) FROM outcome WHERE id = \(count + 5) AND state = 4") > 0
            }
            #expect(await worker.stop() == .exited(0))
            let held = "SELECT count(*) FROM maintenance WHERE holder IS NOT NULL"
            #expect(try await fleet.number(held) == 0, "the worker has given the maintenance lock back")
            let back = try await shell(
                deployment,
                "cameo-admin export '\(fleet.store)' | CAMEO_BLOBS= cameo-admin import back --json",
                environment: fleet.variables
            ).succeeded()
            #expect(try await fleet.number(held) == 0, "so has the export")
            #expect(try report(back).records["job"]?.count == count + 5)
            try await shell(deployment, "cameo-admin check --store back").succeeded()
        }
    }
}
