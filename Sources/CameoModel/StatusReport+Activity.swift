public import Foundation

// What happened recently and what happens now.

extension StatusReport {
    /// Jobs that ended during the last minutes.
    public struct Throughput: Hashable, Codable, Sendable {
        /// The length of the period that ends with the report: 1, 5 or 15 minutes.
        public let minutes: Int
        /// Jobs that ended `completed` or `discarded`. Where thousands ended, the numbers are estimates, mostly within
        /// a tenth.
        public let completed, discarded: Int
        /// The seconds of the period in which there was work, at least 1.
        public let seconds: Double

        package init(minutes: Int, completed: Int, discarded: Int, seconds: Double) {
            self.minutes = minutes
            self.completed = completed
            self.discarded = discarded
            self.seconds = seconds
        }

        /// Ended jobs per second of work.
        public var perSecond: Double { Double(completed + discarded) / seconds }
    }

    /// How long one stage of recent jobs took.
    public struct StageTimes: Hashable, Codable, Sendable {
        /// A stage of an attempt.
        public enum Stage: String, Codable, CaseIterable, Sendable {
            /// From the time when the job was due until a worker claimed it.
            case wait
            /// Fetching the source and overlays.
            case fetch
            /// Waiting for a renderer.
            case queue
            /// Rendering.
            case render
            /// Storing the thumbnails.
            case store
        }

        /// The stage.
        public let stage: Stage
        /// The median and the 95th percentile, in milliseconds.
        public let p50, p95: Int

        package init(stage: Stage, p50: Int, p95: Int) {
            self.stage = stage
            self.p50 = p50
            self.p95 = p95
        }
    }

    /// Jobs that failed last with the same code.
    public struct Failures: Hashable, Codable, Sendable {
        /// The code that they have in common.
        public let code: JobFailure.Code
        /// The number of these jobs among the newest failed ones.
        public let count: Int
        /// The newest of them.
        public let example: FailedJob

        package init(code: JobFailure.Code, count: Int, example: FailedJob) {
            self.code = code
            self.count = count
            self.example = example
        }
    }

    /// A job and its last failure.
    public struct FailedJob: Hashable, Codable, Sendable, Identifiable {
        /// The job's number.
        public let id: Int64
        /// A readable name of the job's source, without credentials; nil if its request has none.
        public let source: String?
        /// The failure's message.
        public let message: String

        package init(id: Int64, source: String?, message: String) {
            self.id = id
            self.source = source
            self.message = message
        }
    }

    /// A job that a worker runs at the moment.
    public struct RunningJob: Hashable, Codable, Sendable, Identifiable {
        /// The job's number.
        public let id: Int64
        /// A readable name of the job's source, without credentials.
        public let source: String?
        /// When the worker claimed the job.
        public let since: Date

        package init(id: Int64, source: String?, since: Date) {
            self.id = id
            self.source = source
            self.since = since
        }
    }
}
