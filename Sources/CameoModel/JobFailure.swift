package import Foundation

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

/// A recent failure to fetch a source, kept for a while so that the source is not asked again at once.
package struct RememberedFailure: Hashable, Sendable {
    package let failure: JobFailure
    package let since: Date
    package let until: Date
    /// The peers that the fetch connected to; empty if there were none.
    package let peers: [Peer]

    package init(_ failure: JobFailure, since: Date, until: Date, peers: [Peer]) {
        (self.failure, self.since, self.until, self.peers) = (failure, since, until, peers)
    }
}

/// Something that a worker's host cannot do and another's can: a format whose codec is not installed, or a folder that it has
/// not or may not read.
///
/// A worker says what its host lacks when it registers, and when a job shows it. A job that needs what a host lacks is
/// given back for another worker, and discarded once every live worker lacks it: as `render.formatUnavailable`, or with the
/// failure of the file.
package enum HostLack: Hashable, Sendable, CustomStringConvertible {
    case reading(PictureFormat)
    case writing(Rendition.Format)
    case files(in: FileURI)

    /// Parses ``description``.
    package init?(_ text: String) {
        let words = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return nil }
        let lack: HostLack? =
            switch words[0] {
            case "read": PictureFormat(rawValue: words[1]).map(HostLack.reading)
            case "write": Rendition.Format(rawValue: words[1]).map(HostLack.writing)
            case "file": (try? FileURI(parsing: text)).map(HostLack.files(in:))
            default: nil
            }
        guard let lack else { return nil }
        self = lack
    }

    /// As stores and JSON have it: `read:heif`, `write:avif`, `file:///folder`.
    package var description: String {
        switch self {
        case .reading(let format): "read:\(format.rawValue)"
        case .writing(let format): "write:\(format.rawValue)"
        case .files(let folder): folder.text
        }
    }

    /// For people: `write AVIF`.
    package var activity: String {
        switch self {
        case .reading(let format): "read \(format.name)"
        case .writing(let format): "write \(PictureFormat(rawValue: format.rawValue)?.name ?? format.rawValue)"
        case .files(let folder): "read files in \(SourceName.ofPath(folder.path))"
        }
    }

    /// The package of Debian 13 and Ubuntu 24.04 that brings what is lacking. Debian 12 has libheif's codecs in libheif
    /// itself. Nil: this libvips was built without the format.
    package var missingPackage: String? {
        switch self {
        case .reading(.heif): "libheif-plugin-libde265"
        case .reading(.avif): "libheif-plugin-dav1d"
        case .writing(.avif): "libheif-plugin-aomenc"
        case .reading, .writing, .files: nil
        }
    }

    /// How to mend it, for people.
    package var remedy: String {
        missingPackage.map { "install \($0)" } ?? "install a libvips that was built with it"
    }
}

/// An attempt that needs what its host lacks: a matter of the host, not of the job.
package struct HostUnable: Error, Hashable, Sendable {
    package let lack: HostLack
    /// The source's name for messages.
    package let source: String
    /// What ends the job if no host can do it; nil: `render.formatUnavailable`.
    package let ending: JobFailure?

    package init(_ lack: HostLack, for source: String, ending: JobFailure? = nil) {
        (self.lack, self.source, self.ending) = (lack, source, ending)
    }

    /// The failure of a job that no host of a live worker that takes such jobs can do; nil if one can.
    package func failure(on hosts: [(host: String, lacks: Bool)]) -> JobFailure? {
        guard hosts.allSatisfy(\.lacks) else { return nil }
        let names = Set(hosts.map(\.host)).sorted().joined(separator: ", ")
        if let ending {
            guard hosts.count > 1 else { return ending }
            return ending.saying("\(ending.message); nor can another worker's host (\(names))")
        }
        let message = "\(source) needs a host that can \(lack.activity), but no worker's can (\(names)): \(lack.remedy)"
        return JobFailure(.renderFormatUnavailable, at: .render, message)
    }
}

/// A request that cannot be accepted: the field and the reason.
public struct InvalidRequest: Error, Hashable, CustomStringConvertible {
    /// The field, e.g. `renditions[0].width`; empty for the request as a whole.
    public let path: String
    /// Why the field is invalid.
    public let reason: String

    /// Truncates a long path or reason, because both may quote untrusted input and both are stored.
    package init(path: String, reason: String) {
        self.path = Self.shortened(path, to: 200)
        self.reason = Self.shortened(reason, to: 500)
    }

    private static func shortened(_ text: String, to count: Int) -> String {
        let scalars = text.unicodeScalars
        return scalars.count <= count ? text : String(scalars.prefix(count)) + "…"
    }

    /// The field and the reason.
    public var description: String { path.isEmpty ? reason : "\(path): \(reason)" }
}
