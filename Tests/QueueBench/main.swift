import CameoEngine
import CameoModel
import CameoStore
import Foundation

// For deploy/bench. What it prints are milliseconds, and numbers of jobs. Several of these may work on a store at once.
//   cameo-queue-bench STORE claim ROUNDS    the median and the slowest time of a claim of 32, and how many jobs it gave;
//                                           what was claimed is given back between the rounds, and is not timed
//   cameo-queue-bench STORE drain           claims and completes every job, without pictures; how many, and the time
//   cameo-queue-bench STORE enqueue COUNT [TENANTS]
//                                           enqueues so many, 1,000 a call, in a store that it makes if there is none, for
//                                           so many tenants, between which the queue is then fair; how many, and the time
//   cameo-queue-bench STORE loop BATCH LOOPS SECONDS [BYTES]
//                                           prints a line and waits for one; then claims a batch and completes it, again
//                                           and again, in so many loops, for so long or until nothing is left, with a
//                                           thumbnail of so many bytes for each job; how many jobs, and the time
//   cameo-queue-bench STORE churn SECONDS   enqueues, claims and completes; every second the number of jobs that have
//                                           ended in it, and the median and the slowest time of a claim of 32
//   cameo-queue-bench STORE follow          claims and completes what it is woken for, and prints each job's id when it
//                                           is claimed, until it is killed
let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fatalError("usage: cameo-queue-bench STORE MEASUREMENT …, as in its source") }

func number(_ index: Int) -> Int {
    guard arguments.indices.contains(index), let value = Int(arguments[index]) else {
        fatalError("\(arguments[2]): a number is missing")
    }
    return value
}

let bench = QueueBench(
    store: try Engine.open(arguments[1], creating: arguments[2] == "enqueue"),
    worker: "bench-\(ProcessInfo.processInfo.processIdentifier)"
)
try await bench.register()
switch arguments[2] {
case "claim": try await bench.claim(rounds: arguments.count > 3 ? number(3) : 50)
case "drain": try await bench.drain()
case "enqueue": try await bench.enqueue(number(3), tenants: arguments.count > 4 ? number(4) : nil)
case "loop":
    let thumbnail = arguments.count > 6 ? BenchThumbnail(bytes: number(6)) : nil
    bench.say("ready")
    // Nothing else runs yet that this could block.
    guard readLine() != nil else { exit(1) }
    try await bench.loop(batch: number(3), loops: number(4), for: .seconds(number(5)), storing: thumbnail)
case "churn": try await bench.churn(for: .seconds(number(3)))
case "follow": try await bench.follow()
default: fatalError("unknown measurement \(arguments[2])")
}
try await bench.deregister()
