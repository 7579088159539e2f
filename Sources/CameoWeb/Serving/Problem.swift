internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// An error response: a problem document (RFC 9457), with Cameo's failure code if there is one.
struct Problem: Error {
    let status: HTTPResponse.Status
    private(set) var detail: String
    /// What strangers are told in place of a detail that may name files, addresses or signed URLs; nil: the detail.
    private var publicDetail: String?
    let code: JobFailure.Code?
    /// The field of the request that is at fault; nil if there is none.
    let field: String?
    var headers: HTTPFields
    /// Whether the client or a source is at fault, whatever the status says.
    let isOthersFault: Bool

    init(
        _ status: HTTPResponse.Status,
        _ detail: String,
        public publicDetail: String? = nil,
        code: JobFailure.Code? = nil,
        field: String? = nil,
        headers: HTTPFields = [:],
        isOthersFault: Bool = false
    ) {
        (self.status, self.detail, self.publicDetail, self.code) = (status, detail, publicDetail, code)
        (self.field, self.headers, self.isOthersFault) = (field, headers, isOthersFault)
    }

    /// The problem for somebody who may not read jobs and the status.
    var forStrangers: Problem {
        var problem = self
        problem.detail = publicDetail ?? detail
        return problem
    }

    /// What strangers are told of an error of the store.
    static let ofStore = "the store does not answer; who may read is told why"

    init(_ error: InvalidRequest) {
        self.init(
            .unprocessableContent,
            error.description,
            code: .requestInvalid,
            field: error.path.isEmpty ? nil : error.path
        )
    }

    init(_ error: StoreError) {
        switch error {
        case .noSuchJob, .noSuch, .notFound: self.init(.notFound, error.description)
        case .batchWithoutJobs(let name):
            let path = PercentEncoding.encoded(name)
            let paths = "/thumbs?batch=\(path) and /batches/\(path)?as=zip"
            self.init(.notFound, "the jobs of the batch \(name) were removed, but not its thumbnails: see \(paths)")
        case .damagedBlob, .unreadableBlob:
            self.init(.internalServerError, error.description, public: Self.ofStore, code: .storeFailed)
        case .full: self.init(.outOfSpace, error.description, public: Self.ofStore, code: .storeFull)
        case .uncertain:
            let safe =
                "a request with the same Idempotency-Key is safe to repeat, and so is any for the same thumbnails"
            self.init(.gatewayTimeout, "\(error); \(safe)", public: "\(Self.ofStore); \(safe)", code: .storeFailed)
        case .cancelled: self.init(.serviceUnavailable, error.description, public: Self.ofStore, code: .storeCancelled)
        case .missing, .cannotOpen, .unknownEngine, .needsFolder, .notAStore, .newerSchema, .olderSchema,
            .networkFileSystem,
            .readOnly,
            .busy, .unreachable, .denied, .leaseLost, .invalidBackupTarget, .refused, .damagedDatabase, .unremoved,
            .failed:
            self.init(.serviceUnavailable, error.description, public: Self.ofStore, code: .storeFailed)
        }
    }

    /// Makes a problem from a job's failure.
    init(_ failure: JobFailure) {
        let status: HTTPResponse.Status =
            switch failure.code {
            case .sourceNotFound: .notFound
            case .sourceTooLarge: .contentTooLarge
            case .sourceTimeout, .sourceUnreachable, .sourceHTTPStatus, .sourceChanged: .badGateway
            case .storeFull: .outOfSpace
            case .storeFailed, .storeRefused, .storeCancelled, .workerLost, .jobTimedOut, .renderFormatUnavailable:
                .serviceUnavailable
            case .requestInvalid, .sourceForbidden, .sourceUnsupportedScheme, .sourceInvalid, .imageUnsupportedFormat,
                .imageCorrupt,
                .imageTooManyPixels, .imageTooManyFrames, .imageNoSuchPage, .imageCropOutside,
                .videoNoPicture, .videoUnsupportedCodec, .videoEncrypted, .renderFailed,
                .renderCrashed, .renderTimedOut, .renderOutOfMemory, .renderTooManyBytes, .jobSuperseded, .unknown:
                .unprocessableContent
            }
        let publicDetail = "the thumbnail could not be made; who may read is told more than the code"
        self.init(status, failure.message, public: publicDetail, code: failure.code, isOthersFault: true)
    }

    /// Makes a problem from any error that a handler throws.
    init(erased error: any Error) {
        switch error {
        case let error as Problem: self = error
        case let error as StoreError: self.init(error)
        case let error as InvalidRequest: self.init(error)
        default: self.init(.internalServerError, "the server failed: \(type(of: error))")
        }
    }

    /// Status 405; `allowed` lists the methods that the path accepts, separated by commas.
    static func methodNotAllowed(_ allowed: String) -> Problem {
        Problem(.methodNotAllowed, "this path accepts \(allowed)", headers: [.allow: allowed])
    }

    static let mediaType = "application/problem+json"

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "type": "about:blank", "title": .string(status.reasonPhrase), "status": .integer(Int64(status.code)),
            "detail": .string(detail),
        ]
        if let code { members["code"] = .string(code.rawValue) }
        if let field { members["field"] = .string(field) }
        return .object(members)
    }

    var response: Response {
        var response = Response(json: json, status: status, mediaType: Self.mediaType)
        for header in headers { response.headers.append(header) }
        return response
    }
}

extension HTTPResponse.Status {
    /// Status 507 (RFC 4918, section 11.5).
    static let outOfSpace = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}

extension Response {
    /// Makes a JSON response that caches must not store.
    init(json: JSONValue, status: HTTPResponse.Status = .ok, mediaType: String = "application/json") {
        self.init(text: json.canonicalText + "\n", status: status, contentType: mediaType)
    }

    /// Makes a response from a message in the wire format, which caches must not store.
    init(message: some Encodable, status: HTTPResponse.Status = .ok) throws {
        let text = String(decoding: try WireFormat.encode(message), as: UTF8.self)
        self.init(text: text + "\n", status: status, contentType: "application/json")
    }

    init(text: String, status: HTTPResponse.Status = .ok, contentType: String) {
        self.init(
            status: status,
            headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    /// Returns the response without its body, for HEAD.
    func withoutBody() -> Response {
        var headers = headers
        if headers[.contentLength] == nil, let length = body.contentLength { headers[.contentLength] = "\(length)" }
        return Response(status: status, headers: headers)
    }
}
