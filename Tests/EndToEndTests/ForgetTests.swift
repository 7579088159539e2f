import Foundation
import Synchronization
import TestSupport
import Testing

extension EndToEnd {
    /// Pictures that are forgotten beside workers that are killed and many clients: none of them is seen again, and no other is
    /// missing.
    @Suite(.timeLimit(.minutes(20)), .serialized, .enabled(if: Deployment.hasWeb))
    struct ForgetTests {
        private static let token = "0123456789abcdef"

        @Test func inAFolder() async throws {
            let deployment = try Deployment()
            try await forget(
                deployment,
                environment: [:],
                sql: ["sqlite3", "-cmd", ".timeout 60000", "\(deployment.store)/cameo.sqlite"]
            )
        }

        @Test(.enabled(if: Fleet.isBuilt)) func inAFleet() async throws {
            let fleet = try await Fleet()
            let url = fleet.store.replacing("&schema=cameo", with: "")
            let psql = ["psql", "--quiet", "--set", "ON_ERROR_STOP=1", url]
            let script = #"{ echo "SET search_path TO cameo;"; cat; } | "$@""#
            try await forget(fleet.deployment, environment: fleet.variables, sql: ["sh", "-c", script, "-"] + psql)
        }

        private func forget(_ deployment: Deployment, environment: [String: String?], sql: [String]) async throws {
            let tokens = try deployment.folder.write(
                Data("test read,enqueue,operate \(Self.token)\n".utf8),
                to: "tokens"
            )
            let store = environment["CAMEO_STORE"] == nil ? ["--store", deployment.store] : []
            let web = try ChildProcess(
                try Deployment.executable("cameo-web"),
                store + ["--listen", "127.0.0.1:0", "--tokens", tokens],
                environment: environment
            )
            defer { web.killGroup() }
            var url = ""
            try await eventually("the server prints its URL") {
                url = String(decoding: web.standardOutput, as: UTF8.self)
                return url.hasSuffix("\n")
            }
            func start() throws -> ChildProcess {
                try deployment.startWorker(
                    ["--log-level", "error", "--render-concurrency", "1"],
                    environment: environment
                )
            }
            var pool = [try start(), try start()]
            defer { for worker in pool { worker.killGroup() } }
            let script = Repository.file("Tests/EndToEndTests/forget_load.py").path
            let clients = try ChildProcess(
                "/usr/bin/python3",
                [script, url.trimmingCharacters(in: .newlines), Self.token] + sql
            )
            defer { clients.killGroup() }
            var kills = 0
            let isOver = Mutex(false)
            let end = Task {
                let ending = await clients.ending
                isOver.withLock { $0 = true }
                return ending
            }
            while !isOver.withLock(\.self) {
                // Nothing signals the moment at which a kill hurts.
                try await Task.sleep(for: .milliseconds(.random(in: 100...900)))
                // One that cannot reach its store as it starts ends, and is started again by what manages services.
                for (place, worker) in pool.enumerated() where !worker.send(0) {
                    let (ending, said) = (await worker.ending, String(decoding: worker.standardError, as: UTF8.self))
                    #expect(ending == .exited(4), "\(ending) \(said)")
                    pool[place] = try start()
                }
                // In a fleet, the jobs of each wait until its lease ends.
                guard kills < (environment.isEmpty ? 12 : 4) else { continue }
                pool.removeFirst().killGroup()
                pool.append(try start())
                kills += 1
            }
            let output = String(decoding: clients.standardOutput, as: UTF8.self)
            #expect(
                await end.value == .exited(0),
                "\(output)\(String(decoding: clients.standardError, as: UTF8.self))"
            )
            #expect(output.contains("400 jobs, 200 forgotten, "))
            #expect(kills > 3)
            let checked = try await deployment.command("cameo-admin", ["check"], environment: environment)
            #expect(checked.exitStatus == 0, "\(checked.outputText)\(checked.errorText)")
        }
    }
}
