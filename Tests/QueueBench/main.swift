import CameoModel
import CameoSQLite
import CameoStore
import Foundation

// cameo-queue-bench STORE ROUNDS: the median and the slowest time of a claim of 32, in milliseconds, and how many jobs a
// claim gave. What was claimed is given back between the rounds, and is not timed. For deploy/bench.
let arguments = CommandLine.arguments
guard arguments.count == 3, let rounds = Int(arguments[2]), rounds > 0 else {
    fatalError("usage: cameo-queue-bench STORE ROUNDS")
}
let store = try SQLiteStore(at: arguments[1], creating: false)
let worker = try await store.register(id: "bench", host: "here", pid: 1, version: CameoVersion.current, concurrency: 32)
var times: [Double] = []
var claimed = 0
var held: [ClaimedJob] = []
for round in 0...rounds {
    let started = ContinuousClock.now
    let jobs = try await store.claim(limit: 32, for: worker.id)
    // The first opens files and compiles statements, and lets full keys fill.
    if round > 0 {
        times.append(started.duration(to: .now).seconds * 1_000)
        claimed += jobs.count
    }
    for job in jobs {
        let isOfFullKey = job.request.contains("concurrencyKey")
        if isOfFullKey { held.append(job) } else { try await store.release(job.claim) }
    }
}
for job in held { try await store.release(job.claim) }
try await store.deregister(worker)
times.sort()
print(times[times.count / 2], times[times.count - 1], claimed / rounds)
