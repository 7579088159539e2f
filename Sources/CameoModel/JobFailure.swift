/// Why an attempt failed. JSON form: `proto-json/job-failure.schema.json`.
public struct JobFailure: Error, Hashable, Codable, Sendable {
    /// Stable names for programs to branch on. The meaning of a code never changes.
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
        case videoNoPicture = "video.noPicture"
        case videoUnsupportedCodec = "video.unsupportedCodec"
        case videoEncrypted = "video.encrypted"
        case renderFailed = "render.failed"
        case renderCrashed = "render.crashed"
        case renderTimedOut = "render.timedOut"
        case renderOutOfMemory = "render.outOfMemory"
        case renderTooManyBytes = "render.tooManyBytes"
        case renderFormatUnavailable = "render.formatUnavailable"
        case jobTimedOut = "job.timedOut"
        case jobSuperseded = "job.superseded"
        case storeFull = "store.full"
        case storeFailed = "store.failed"
        case storeRefused = "store.refused"
        case storeCancelled = "store.cancelled"
        case workerLost = "worker.lost"
        /// A code that a newer version defines; the message still explains it.
        case unknown
    }

    /// The step that failed.
    public enum Stage: String, Codable, CaseIterable, Sendable {
        case request, fetch, render, store, worker
    }

    /// The reason for the failure.
    public let code: Code
    /// The step that failed.
    public let stage: Stage
    /// One sentence that names the source and the limit that it broke.
    public private(set) var message: String
    /// Whether another attempt may succeed without any change to the request or source.
    public let isRetryable: Bool
    /// How long the source's server asks clients to wait (`Retry-After`). Not part of the JSON form: the job has the
    /// time of its next attempt, and the message says what the server asked for.
    package private(set) var retryAfter: Duration?
    /// Whether this machine ran out of descriptors or memory, so that the attempt says nothing about the job. Not part of
    /// the JSON form.
    package private(set) var isShortage = false
    /// What this host lacks and another may have, so that the failure is the job's only if all lack it. Not part of the JSON
    /// form.
    package private(set) var lack: HostLack?

    private enum CodingKeys: String, CodingKey {
        case code, stage, message, isRetryable
    }

    /// `isRetryable` defaults to what the code implies (``Code/isRetryable``).
    package init(
        _ code: Code,
        at stage: Stage,
        _ message: String,
        isRetryable: Bool? = nil,
        retryAfter: Duration? = nil,
        isShortage: Bool = false
    ) {
        (self.code, self.stage, self.message) = (code, stage, message)
        self.isRetryable = isRetryable ?? code.isRetryable
        self.retryAfter = retryAfter
        self.isShortage = isShortage
    }

    /// The same failure with a different message.
    package func saying(_ message: String) -> JobFailure {
        var failure = self
        failure.message = message
        return failure
    }

    package func lacking(_ lack: HostLack) -> JobFailure {
        var failure = self
        failure.lack = lack
        return failure
    }

    /// Decodes any code; an unrecognised one becomes ``Code/unknown``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        code = Code(rawValue: try container.decode(String.self, forKey: .code)) ?? .unknown
        stage = Stage(rawValue: try container.decode(String.self, forKey: .stage)) ?? .worker
        message = try container.decode(String.self, forKey: .message)
        isRetryable = try container.decode(Bool.self, forKey: .isRetryable)
    }
}

extension JobFailure.Code {
    /// The only place that decides whether a failure is retryable, with two refinements: where a `source.httpStatus` is
    /// made, its status decides, and `RetryPolicy` limits repeated renderer deaths.
    public var isRetryable: Bool {
        switch self {
        case .sourceTimeout, .sourceUnreachable, .sourceChanged, .sourceHTTPStatus: true
        case .renderCrashed, .renderTimedOut: true
        case .storeFull, .storeFailed, .storeRefused, .storeCancelled, .jobTimedOut: true
        case .requestInvalid, .sourceNotFound, .sourceForbidden, .sourceTooLarge, .sourceUnsupportedScheme: false
        case .sourceInvalid, .imageUnsupportedFormat, .imageCorrupt, .imageTooManyPixels: false
        case .imageTooManyFrames, .imageNoSuchPage, .imageCropOutside: false
        case .videoNoPicture, .videoUnsupportedCodec, .videoEncrypted, .renderFormatUnavailable: false
        case .renderFailed, .renderOutOfMemory, .renderTooManyBytes, .jobSuperseded, .workerLost, .unknown: false
        }
    }

    /// What is to be done about it, which the dashboard groups failures by, in the order of its groups.
    package enum Advice: String, CaseIterable, Sendable {
        case waiting = "Retry when the source's server is well again"
        case address = "Correct the address or what may be read, then retry"
        case limit = "Raise the worker's limit, or send something smaller"
        case picture = "Replace the picture, or let the worker take it (--allow-format, --tolerate)"
        case video = "Show an icon, or have the video converted"
        case request = "Correct the request and enqueue it again"
        case operation = "Look at the worker and the store, then retry"
        case message = "Read the message: a newer version of Cameo gave this code"
    }

    package var advice: Advice {
        switch self {
        case .sourceTimeout, .sourceUnreachable, .sourceHTTPStatus, .sourceChanged: .waiting
        case .sourceNotFound, .sourceForbidden, .sourceUnsupportedScheme, .sourceInvalid: .address
        case .sourceTooLarge, .imageTooManyPixels, .imageTooManyFrames, .renderOutOfMemory, .renderTimedOut: .limit
        case .renderTooManyBytes, .jobTimedOut: .limit
        case .imageUnsupportedFormat, .imageCorrupt: .picture
        case .videoNoPicture, .videoUnsupportedCodec, .videoEncrypted: .video
        case .requestInvalid, .imageNoSuchPage, .imageCropOutside, .jobSuperseded: .request
        case .renderFailed, .renderCrashed, .renderFormatUnavailable, .workerLost: .operation
        case .storeFull, .storeFailed, .storeRefused, .storeCancelled: .operation
        case .unknown: .message
        }
    }

    /// Whether the failure may be due to nothing but time that passed.
    package var isOfTime: Bool {
        switch self {
        case .sourceTimeout, .sourceUnreachable, .renderTimedOut, .jobTimedOut: true
        default: false
        }
    }

    /// Whether the picture crashed or hung the renderer process.
    var isRendererDeath: Bool { self == .renderCrashed || self == .renderTimedOut }
}
