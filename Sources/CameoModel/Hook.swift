package import CameoSystem
package import Foundation

/// One receiver of hook deliveries, as an operator configures it. It alone knows the address or command; requests know
/// only the name.
package struct Hook: Hashable, Sendable {
    /// Where deliveries go.
    package enum Target: Hashable, Sendable {
        /// An `http:` or `https:` URL to which signed messages are posted.
        case url(String, Secret)
        /// A program, by its absolute path, and its arguments. It gets the message on standard input.
        case command([String])
    }

    /// What messages to a URL are signed with.
    package enum Secret: Hashable, Sendable {
        case text(WebhookSecret)
        /// The absolute path of a file with one secret per line. Messages are signed with each, so that a receiver can
        /// change from one to the next.
        case file(String)
    }

    package static let timeoutRange = 0.1...300.0
    package static let concurrencyRange = 1...100
    package static let ageRange = 1.0...2_592_000.0

    package let name: String
    package let target: Target
    /// The time limit of one try in seconds.
    package var timeout = 10.0
    /// How many deliveries a worker makes to this hook at once.
    package var concurrency = 4
    /// How many seconds after a job's end its delivery is still tried.
    package var maximumAge = 259_200.0
    /// The delays between tries, where they differ from the defaults.
    package var retry: RetryOverride?
}

/// The message that a hook gets when a job has ended. JSON form: `proto-json/hook-delivery.schema.json`.
package struct HookDelivery: Hashable, Codable, Sendable {
    /// The same each time that the message is delivered, and never that of another message.
    package let id: String
    package let hook: String
    /// The job that ended.
    package let job: Int64
    /// The jobs that it superseded and whose requests named the hook; nil if there are none.
    package let supersededJobs: [Int64]?
    /// How the job ended: completed, discarded or cancelled.
    package let state: JobState
    package let endedAt: Date
    package let queue: String
    package let batch: String?
    /// The source as requested, without a password; nil for a picture that is in the request itself, and if the request is invalid.
    package let source: String?
    /// The requested thumbnails, with their details if they exist at the time of the delivery.
    package let thumbnails: [RequestedThumbnail]
    /// Why the job was discarded, or its last failure before it was cancelled.
    package let failure: JobFailure?
    package let metadata: [String: JSONValue]?

    /// `job` is the job as it is now, which may have been retried since; `end` says how it ended.
    package init(
        id: String,
        hook: String,
        job: Job,
        supersededJobs: [Int64],
        end: (state: JobState, at: Date, failure: JobFailure?)
    ) {
        self.id = id
        self.hook = hook
        self.job = job.id
        self.supersededJobs = supersededJobs.isEmpty ? nil : supersededJobs
        state = end.state
        endedAt = end.at
        queue = job.queue
        batch = job.batch
        source = job.source.flatMap { InlinePicture.isIn($0) ? nil : SourceName.withoutPassword($0) }
        thumbnails = job.thumbnails
        failure = end.failure
        metadata = job.metadata.isEmpty ? nil : job.metadata
    }
}

/// What a hook is told.
package enum HookMessage: Hashable, Sendable, Encodable {
    case job(HookDelivery)
    case batch(BatchEnd)

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .job(let delivery): try delivery.encode(to: encoder)
        case .batch(let end): try end.encode(to: encoder)
        }
    }
}

/// The deliveries of one hook. JSON form: `proto-json/hook-report.schema.json`.
package struct HookReport: Hashable, Codable, Sendable {
    /// A delivery that was given up.
    package struct Failure: Hashable, Codable, Sendable {
        package let id: String
        /// The job whose end was to be told; nil: that of a batch.
        package let job: Int64?
        package let batch: String?
        /// How often it was tried.
        package let tries: Int
        /// When it was given up.
        package let failedAt: Date
        package let reason: String

        package init(id: String, job: Int64?, batch: String? = nil, tries: Int, failedAt: Date, reason: String) {
            (self.id, self.job, self.batch, self.tries, self.failedAt) = (id, job, batch, tries, failedAt)
            self.reason = reason
        }
    }

    package let name: String
    /// Whether a live worker can deliver to it.
    package let isKnown: Bool
    /// The queues whose jobs all name the hook.
    package let queues: [String]
    package let waiting: Int
    package let running: Int
    package let delivered: Int
    package let failed: Int
    /// The age of the oldest end that waits for its delivery; nil if none waits.
    package var oldestWaitingSeconds: Double?
    /// Why the last try of a waiting delivery failed; nil if none did.
    package var trouble: String?
    /// The latest deliveries that were given up, newest first.
    package var failures: [Failure] = []

    package init(
        name: String,
        isKnown: Bool,
        queues: [String],
        counts: (waiting: Int, running: Int, delivered: Int, failed: Int)
    ) {
        (self.name, self.isKnown, self.queues) = (name, isKnown, queues)
        (waiting, running, delivered, failed) = counts
    }
}

/// A secret of a webhook in the notation of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64.
package struct WebhookSecret: Hashable, Sendable {
    private static let prefix = "whsec_"
    private static let lengths = 24...64

    /// The text as configured.
    package let text: String
    package let key: HMACKey

    /// Returns nil for any other text.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            Self.lengths.contains(bytes.count)
        else { return nil }
        self.text = text
        key = HMACKey(Array(bytes))
    }

    /// What to say of a text that is no secret, without repeating it.
    package static let rule =
        "must be whsec_ and 24 to 64 bytes in base64, as `echo whsec_$(openssl rand -base64 32)` makes"
}
