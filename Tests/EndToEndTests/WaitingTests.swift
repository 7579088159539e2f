import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Jobs that wait because of others.
    @Suite(.timeLimit(.minutes(10)))
    struct WaitingTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try Deployment(renderer: "cameo-renderer-hooked")
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
        }

        @Test func whoWaitsLearnsWhyNothingHappensAndWhatHelps() async throws {
            let waits = try ChildProcess(
                try Deployment.executable("cameo-enqueue"),
                ["initials:AB", "--queue", "late", "--batch", "b", "--wait"],
                environment: ["CAMEO_STORE": deployment.store]
            )
            defer { waits.killGroup() }
            try await waits.hasSaid("cameo-enqueue: no worker runs: start cameo-worker")
            _ = try await deployment.command("cameo-admin pause late")
            let worker = try deployment.startWorker()
            defer { worker.killGroup() }
            let batch = try ChildProcess(
                try Deployment.executable("cameo-status"),
                ["batch", "b", "--wait"],
                environment: ["CAMEO_STORE": deployment.store]
            )
            defer { batch.killGroup() }
            for program in [waits, batch] {
                try await program.hasSaid(": the queue late is paused: cameo-admin resume late")
            }
            #expect(try await deployment.command("cameo-admin resume late").exitStatus == 0)
            for program in [waits, batch] { #expect(await program.ending == .exited(0)) }
        }

        /// Forty URLs of a host that does not answer precede a file and another host's picture.
        @Test(.enabled(if: TestLength.isWhole, "--all")) func aSlowHostStopsNobodyElse() async throws {
            let origin = try await Origin.start(serving: deployment.pictures)
            let urls = (0..<40).map { origin.url("/held?file=photo.jpg&n=\($0)") }
            let held = try await deployment.enqueue(urls + ["--size", "20x"]).map { try $0.jobID }
            let others = try await deployment.enqueue(
                "pictures/photo.jpg",
                origin.url("/photo.jpg?file=photo.jpg", host: "localhost"),
                "--size",
                "30x"
            )
            .map { try $0.jobID }
            let worker = try deployment.startWorker(
                [
                    "--allow-network", "127.0.0.0/8", "--allow-network", "::1/128", "--concurrency", "5",
                    "--fetch-concurrency", "2", "--host-concurrency", "1",
                ],
                environment: [:]
            )
            defer { worker.killGroup() }
            try await deployment.waitUntil { store in
                try await store.states(of: others).values.allSatisfy { $0 == .completed }
            }
            let waiting = try await deployment.status()
            #expect(waiting.count(.completed) == 2)
            #expect(waiting.count(.running) <= 5)
            #expect(waiting.count(.retryable) > 0)
            try await origin.release()
            // Not all of them, because postponed jobs return one by one.
            try await deployment.waitUntil { try await $0.status().count(.completed) >= 10 }
            for id in held {
                let job = try await deployment.job(id)
                #expect(job.attempt == (job.state == .completed || job.state == .running ? 1 : 0))
            }
            #expect(try await deployment.sql("SELECT count(*) FROM attempt WHERE outcome <> 'completed';") == "0")
        }

        /// Every source exceeds the budget: each is fetched alone, and an overlay beside its picture.
        @Test func aBudgetOfOneByteHoldsNobodyUpForEver() async throws {
            let origin = try await Origin.start(serving: deployment.pictures)
            func url(_ n: Int) -> String { origin.url("/photo.jpg?file=photo.jpg&n=\(n)") }
            _ = try await deployment.enqueue((0..<6).map(url) + ["pictures/photo.jpg", "--size", "20x"])
            _ = try await deployment.enqueue((0..<6).map(url) + ["--size", "30x", "--overlay", url(2)])
            let photo = try Data(contentsOf: URL(filePath: "\(deployment.pictures)/photo.jpg"))
            for width in 40..<44 { _ = try await deployment.enqueue("--data --size \(width)x", input: photo) }
            try await deployment.drain("--max-bytes-in-flight 1 --allow-network 127.0.0.0/8").succeeded()
            #expect(try await deployment.status().count(.completed) == 17)
            // Served from the cache.
            _ = try await deployment.enqueue((0..<6).map(url) + ["--size", "50x", "--overlay", url(3)])
            try await deployment.drain("--max-bytes-in-flight 1 --allow-network 127.0.0.0/8").succeeded()
        }

        /// Twelve jobs at once would need more, and use up their attempts.
        @Test func fewDescriptorsCostNoJob() async throws {
            let origin = try await Origin.start(serving: deployment.pictures)
            let urls = (0..<24).map { origin.url("/photo.jpg?file=photo.jpg&n=\($0)") }
            _ = try await deployment.enqueue(urls + ["--size", "20x"])
            let cases: [(Int, Int32, String)] = [
                (32, 1, "32 open files are too few"), (62, 0, "at most 2 run at once"),
            ]
            for (limit, status, text) in cases {
                let drain = try await run(
                    "/bin/sh",
                    [
                        "-c", #"ulimit -n \#(limit); exec "$@""#, "-", try Deployment.executable("cameo-worker"),
                        "--drain",
                        "--concurrency", "12", "--render-concurrency", "2", "--allow-network", "127.0.0.0/8",
                        "--allow-network", "::1/128",
                    ],
                    environment: Deployment.patience.merging(["CAMEO_STORE": deployment.store]) { $1 }
                )
                #expect(drain.exitStatus == status && drain.errorText.contains(text), "\(drain.errorText)")
            }
            #expect(try await deployment.status().count(.completed) == 24)
        }

        /// A picture waits for the only renderer for longer than its time limit.
        @Test(.enabled(if: TestLength.isWhole, "--all")) func aTimeLimitCountsWorkAndNotWaiting() async throws {
            try Data("CAMEO-TEST-HANG".utf8).write(to: URL(filePath: "\(deployment.pictures)/hang.jpg"))
            let hang = try await deployment.enqueue("pictures/hang.jpg")[0].jobID
            let worker = try deployment.startWorker("--render-concurrency 1 --render-timeout 1h")
            defer { worker.killGroup() }
            try await deployment.waitUntil { try await $0.job(hang).state == .running }
            // Started after the other has begun, so it reaches the renderer after it.
            let job = try await deployment.enqueue("pictures/photo.jpg --timeout 5")[0].jobID
            try await deployment.waitUntil { try await $0.job(job).state == .running }
            // The test is about the passing of time.
            try await Task.sleep(for: .seconds(6))
            _ = try await deployment.command("cameo-admin cancel \(hang)")
            try await deployment.waitUntil { try await $0.job(job).state.isFinal }
            let attempts = try #require(try await deployment.job(job).attempts)
            try #require(attempts.map(\.outcome) == [.completed])
            let waited = try #require(attempts[0].queueMilliseconds)
            #expect(waited >= 1_000, "it had 5 s to work and took 6 s at least")
            #expect(try #require(attempts[0].renderMilliseconds) < 5_000, "what it waited is no part of its rendering")
        }
    }
}
