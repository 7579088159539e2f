import CameoModel
import CameoSQLite
import CameoStore
import Foundation

// For deploy/bench. What it prints are milliseconds, and numbers of jobs.
//   cameo-queue-bench STORE claim ROUNDS    the median and the slowest time of a claim of 32, and how many jobs it gave;
//                                           what was claimed is given back between the rounds, and is not timed
//   cameo-queue-bench STORE drain           claims and completes every job, without pictures; how many, and the time
let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fatalError("usage: cameo-queue-bench STORE claim ROUNDS | drain") }
let store = try SQLiteStore(at: arguments[1], creating: false)
/// Several of these may work on a store at once.
let worker = "bench-\(ProcessInfo.processInfo.processIdentifier)"
try await store.register(
    WorkerDescription(id: worker, host: "here", pid: 1, version: CameoVersion.current, concurrency: 32)
)
switch arguments[2] {
case "claim": try await claim(rounds: arguments.count > 3 ? Int(arguments[3]) ?? 50 : 50)
case "drain": try await drain()
default: fatalError("unknown measurement \(arguments[2])")
}
try await store.deregister(worker)

func claim(rounds: Int) async throws {
    var (times, claimed, held) = ([Double](), 0, [ClaimedJob]())
    for round in 0...rounds {
        let started = ContinuousClock.now
        let jobs = try await store.claim(limit: 32, for: worker)
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
    times.sort()
    print(times[times.count / 2], times[times.count - 1], claimed / rounds)
}

/// Four loops, so that one claims while others settle, and settlements share commits as those of a busy pool do.
func drain() async throws {
    let started = ContinuousClock.now
    let count = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<4 {
            group.addTask {
                var count = 0
                while true {
                    let jobs = try await store.claim(limit: 128, for: worker)
                    if jobs.isEmpty { return count }
                    count += jobs.count
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for job in jobs {
                            group.addTask {
                                try await store.complete(
                                    job.claim,
                                    keeping: [],
                                    seen: nil,
                                    timings: AttemptTimings()
                                )
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
        }
        return try await group.reduce(0, +)
    }
    print(count, started.duration(to: .now).seconds * 1_000)
}
