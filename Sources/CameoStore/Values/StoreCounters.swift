package import CameoModel
package import Foundation

// DESIGN. Counters that never go back while the store lives, at next to no cost on the path of a job:
//
// - Ended jobs by queue: columns of the row that the transaction of a job's end updates anyway.
// - Failures by code: one upsert in the transaction that records the failure. Success costs nothing.
// - All else (durations, sources, thumbnails, renderers): each worker counts in memory, and adds its counts to the
//   table `counter` when it extends its lease and when it ends. A worker that is killed loses at most one interval.
//
// Retention and retries remove rows of jobs, and never touch these numbers. A queue that is removed because it is empty
// leaves its columns' values in the table.

/// Numbers that only grow while the store lives; or what a worker has counted and not yet added to them.
package struct StoreCounters: Hashable, Sendable {
    /// What is counted. The raw values are stored.
    package enum Family: String, CaseIterable, Sendable {
        /// Ended jobs by queue. Named as the states.
        case completed, discarded, cancelled
        /// Failed attempts by failure code: those that are retried, and those that ended their job.
        case retriedFailures = "failures.retried"
        case finalFailures = "failures.final"
        /// Attempts by how they ended: `unchanged` without rendering, `lost` because the job was cancelled or another worker
        /// has it, `unrecorded` because the store refused to record the end.
        case attempts
        /// Sources that arrived, and their bytes, by where they came from.
        case sources
        case sourceBytes = "sources.bytes"
        case thumbnails
        case thumbnailBytes = "thumbnails.bytes"
        /// Renderer processes that were started; those that ended, by the reason.
        case renderersStarted = "renderers.started"
        case renderersEnded = "renderers.ended"
        /// How many durations lie between two bounds, by stage and upper bound in milliseconds ("render 250"; without a
        /// bound, "render ", those longer than the last).
        case durations
        /// The sum of all durations by stage, in milliseconds.
        case milliseconds
        /// Transactions that ran again because they collided with another's.
        case collisions
        /// Changes of jobs' states.
        case changes
        /// Originals that were removed because the cache was over its budget, and their bytes.
        case evicted = "sources.evicted"
        case evictedBytes = "sources.evicted.bytes"

        /// The labels that are known in advance. Their numbers are reported even while they are 0: a monitor does not
        /// see the increase of a number whose first report is 1.
        fileprivate var knownLabels: [String] {
            switch self {
            case .retriedFailures, .finalFailures: JobFailure.Code.allCases.map(\.rawValue)
            case .attempts:
                [
                    "completed", "unchanged", "superseded", "retried", "discarded", "released", "postponed", "lost",
                    "unrecorded",
                ]
            case .sources, .sourceBytes: ["fetched", "revalidated", "cached", "stale"]
            case .renderersEnded: ["recycled", "killed", "crashed"]
            case .completed, .discarded, .cancelled, .thumbnails, .thumbnailBytes, .renderersStarted, .durations,
                .milliseconds, .collisions, .changes, .evicted, .evictedBytes:
                []
            }
        }
    }

    /// A part of a job's life whose duration is measured. Here `store` includes the commit.
    package typealias Stage = StatusReport.StageTimes.Stage

    /// The durations of one stage.
    package struct Histogram: Hashable, Sendable {
        /// The number of durations up to each of ``StoreCounters/bounds``.
        package let upTo: [Int]
        package let count: Int
        package let milliseconds: Int

        /// Estimates the duration in milliseconds that a share (above 0, at most 1) of all durations does not exceed, as
        /// Prometheus does: linearly within the bucket
        /// (https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile). The last bound stands for
        /// all that are longer. Nil if there are no durations.
        package func quantile(_ share: Double) -> Double? {
            guard count > 0 else { return nil }
            let rank = share * Double(count)
            var (start, before) = (0, 0)
            for (bound, upTo) in zip(StoreCounters.bounds, upTo) {
                if Double(upTo) >= rank {
                    let place = (rank - Double(before)) / Double(upTo - before)
                    return Double(start) + place * Double(bound - start)
                }
                (start, before) = (bound, upTo)
            }
            return Double(start)
        }
    }

    /// The upper bounds of a histogram's buckets in milliseconds. Longer durations only count in the total.
    package static let bounds = [
        5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000,
    ]

    /// By family and label.
    private var values: [Family: [String: Int]] = [:]
    /// Since when the store has counted.
    package var since: Date?

    package init() {}

    package var isEmpty: Bool { values.isEmpty }

    package mutating func add(_ count: Int, to family: Family, _ label: String = "") {
        if count != 0 { values[family, default: [:]][label, default: 0] += count }
    }

    package mutating func add(milliseconds: Int, to stage: Stage) {
        let duration = max(0, milliseconds)
        let bound = Self.bounds.first { duration <= $0 }
        add(1, to: .durations, "\(stage.rawValue) \(bound.map(String.init) ?? "")")
        add(duration, to: .milliseconds, stage.rawValue)
    }

    package static func += (sum: inout Self, other: Self) {
        sum.values.merge(other.values) { $0.merging($1, uniquingKeysWith: +) }
    }

    /// What was added to earlier numbers of the same store. Those that went back, as in a store that was restored from a
    /// backup, are 0.
    package func added(to earlier: Self) -> Self {
        var added = self
        for (family, label, value) in earlier.entries {
            if let now = values[family]?[label] { added.values[family]?[label] = max(0, now - value) }
        }
        return added
    }

    package subscript(family: Family, label: String = "") -> Int { values[family]?[label] ?? 0 }

    /// The numbers of a family, sorted by label, with those of `labels` that are 0.
    package func all(_ family: Family, labels: [String] = []) -> [(label: String, value: Int)] {
        var all = Dictionary((family.knownLabels + labels).map { ($0, 0) }, uniquingKeysWith: { first, _ in first })
        all.merge(values[family] ?? [:]) { $1 }
        return all.map { ($0.key, $0.value) }.sorted { $0.label < $1.label }
    }

    package func histogram(of stage: Stage) -> Histogram {
        var upTo: [Int] = []
        var count = 0
        for bound in Self.bounds {
            count += self[.durations, "\(stage.rawValue) \(bound)"]
            upTo.append(count)
        }
        return Histogram(
            upTo: upTo,
            count: count + self[.durations, "\(stage.rawValue) "],
            milliseconds: self[.milliseconds, stage.rawValue]
        )
    }

    /// Every number, for the engine to store.
    package var entries: [(family: Family, label: String, value: Int)] {
        values.flatMap { family, counts in counts.map { (family, $0.key, $0.value) } }
    }
}

/// What monitoring asks of a store, beside its status: its counters, the renderer processes that the live workers keep ready,
/// the size of the database in bytes without its write-ahead log, and what is free on its disk; nil: the disk is another host's.
package typealias StoreMetrics = (counters: StoreCounters, renderers: Int, databaseBytes: Int, freeBytes: Int?)
