/// Why an attempt did not make its thumbnails. JSON form: `proto-json/job-failure.schema.json`.
public struct JobFailure: Error, Hashable, Codable, Sendable {
    /// Stable names, for programs to decide on. The text behind the dot never changes its meaning.
    public enum Code: String, Codable, CaseIterable, Sendable {
        case requestInvalid = "request.invalid"
        case sourceNotFound = "source.notFound"
        case sourceForbidden = "source.forbidden"
        case sourceTooLarge = "source.tooLarge"
        case sourceTimeout = "source.timeout"
        case sourceHTTPStatus = "source.httpStatus"
        case sourceUnreachable = "source.unreachable"
        case sourceUnsupportedScheme = "source.unsupportedScheme"
        case sourceInvalid = "source.invalid"
        case sourceChanged = "source.changed"
        case imageUnsupportedFormat = "image.unsupportedFormat"
        case imageCorrupt = "image.corrupt"
        case imageTooManyPixels = "image.tooManyPixels"
        case imageTooManyFrames = "image.tooManyFrames"
        case imageNoSuchPage = "image.noSuchPage"
        case imageCropOutside = "image.cropOutside"
        case renderFailed = "render.failed"
        case renderCrashed = "render.crashed"
        case renderTimedOut = "render.timedOut"
        case renderOutOfMemory = "render.outOfMemory"
        case renderTooManyBytes = "render.tooManyBytes"
        case jobTimedOut = "job.timedOut"
        case jobSuperseded = "job.superseded"
        case storeFull = "store.full"
        case storeFailed = "store.failed"
        case workerLost = "worker.lost"
        /// A code of a newer version, kept readable by its message.
        case unknown
    }

    /// The step that failed.
    public enum Stage: String, Codable, CaseIterable, Sendable {
        case request, fetch, render, store, worker
    }

    /// What went wrong.
    public let code: Code
    /// Where it went wrong.
    public let stage: Stage
    /// One sentence for a person: it names the source and the limit that was broken.
    public let message: String
    /// Whether another attempt may succeed without anybody changing anything.
    public let isRetryable: Bool
    /// How long the source's server asks everybody to stay away (`Retry-After`). Not part of the JSON form: when a job
    /// is tried again stands in the job, and the message says what the server asked for.
    package let retryAfter: Duration?

    private enum CodingKeys: String, CodingKey {
        case code, stage, message, isRetryable
    }

    /// Whether it is worth another attempt is what the code says (``Code/isRetryable``), unless told otherwise.
    package init(
        _ code: Code,
        at stage: Stage,
        _ message: String,
        isRetryable: Bool? = nil,
        retryAfter: Duration? = nil
    ) {
        self.code = code
        self.stage = stage
        self.message = message
        self.isRetryable = isRetryable ?? code.isRetryable
        self.retryAfter = retryAfter
    }

    /// The same failure in other words.
    package func saying(_ message: String) -> JobFailure {
        JobFailure(code, at: stage, message, isRetryable: isRetryable, retryAfter: retryAfter)
    }

    /// Reads any code; what it does not know is ``Code/unknown``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        code = Code(rawValue: try container.decode(String.self, forKey: .code)) ?? .unknown
        stage = Stage(rawValue: try container.decode(String.self, forKey: .stage)) ?? .worker
        message = try container.decode(String.self, forKey: .message)
        isRetryable = try container.decode(Bool.self, forKey: .isRetryable)
        retryAfter = nil
    }
}

extension JobFailure.Code {
    /// The one place that decides whether a failure is worth another attempt. `source.httpStatus` is decided by its
    /// status where it is made, `render.crashed` by how often it happened (`RetryPolicy`).
    public var isRetryable: Bool {
        switch self {
        case .sourceTimeout, .sourceUnreachable, .sourceChanged, .sourceHTTPStatus: true
        case .renderCrashed, .renderTimedOut: true
        case .storeFull, .storeFailed, .jobTimedOut: true
        case .requestInvalid, .sourceNotFound, .sourceForbidden, .sourceTooLarge, .sourceUnsupportedScheme: false
        case .sourceInvalid, .imageUnsupportedFormat, .imageCorrupt, .imageTooManyPixels: false
        case .imageTooManyFrames, .imageNoSuchPage, .imageCropOutside: false
        case .renderFailed, .renderOutOfMemory, .renderTooManyBytes, .jobSuperseded, .workerLost, .unknown: false
        }
    }

    /// Whether a picture ended the process that rendered it.
    var isRendererDeath: Bool { self == .renderCrashed || self == .renderTimedOut }
}
