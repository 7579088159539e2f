internal import CameoModel
internal import CameoStore
internal import HTTPTypes
internal import Hummingbird

/// An error response: a problem document (RFC 9457), with Cameo's failure code if there is one.
struct Problem: Error {
    let status: HTTPResponse.Status
    let detail: String
    let code: JobFailure.Code?
    /// The field of the request that is at fault; nil if there is none.
    let field: String?
    var headers = HTTPFields()
    /// Whether to stop reading from the connection, as the rest of the request may have any length.
    var endsConnection = false

    init(_ status: HTTPResponse.Status, _ detail: String, code: JobFailure.Code? = nil, field: String? = nil) {
        self.status = status
        self.detail = detail
        self.code = code
        self.field = field
    }

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
        case .damagedBlob, .unreadableBlob: self.init(.internalServerError, error.description, code: .storeFailed)
        case .full: self.init(.outOfSpace, error.description, code: .storeFull)
        case .missing, .cannotOpen, .unknownEngine, .needsFolder, .notAStore, .newerSchema, .olderSchema,
            .networkFileSystem,
            .readOnly,
            .busy, .unreachable, .denied, .leaseLost, .invalidBackupTarget, .refused, .damagedDatabase, .failed:
            self.init(.serviceUnavailable, error.description, code: .storeFailed)
        }
    }

    /// Makes a problem from a job's failure.
    init(_ failure: JobFailure) {
        let status: HTTPResponse.Status =
            switch failure.code {
            case .sourceNotFound: .notFound
            case .sourceTooLarge: .contentTooLarge
            case .sourceTimeout, .sourceUnreachable, .sourceHTTPStatus, .sourceForbidden, .sourceChanged: .badGateway
            case .storeFull: .outOfSpace
            case .storeFailed, .workerLost, .jobTimedOut, .renderFormatUnavailable: .serviceUnavailable
            case .requestInvalid, .sourceUnsupportedScheme, .sourceInvalid, .imageUnsupportedFormat, .imageCorrupt,
                .imageTooManyPixels, .imageTooManyFrames, .imageNoSuchPage, .imageCropOutside,
                .videoNoPicture, .videoUnsupportedCodec, .renderFailed,
                .renderCrashed, .renderTimedOut, .renderOutOfMemory, .renderTooManyBytes, .jobSuperseded, .unknown:
                .unprocessableContent
            }
        self.init(status, failure.message, code: failure.code)
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
        var problem = Problem(.methodNotAllowed, "this path accepts \(allowed)")
        problem.headers[.allow] = allowed
        return problem
    }

    var response: Response {
        var members: [String: JSONValue] = [
            "type": "about:blank", "title": .string(status.reasonPhrase), "status": .integer(Int64(status.code)),
            "detail": .string(detail),
        ]
        if let code { members["code"] = .string(code.rawValue) }
        if let field { members["field"] = .string(field) }
        var response = Response(json: .object(members), status: status, mediaType: "application/problem+json")
        for header in headers { response.headers.append(header) }
        if endsConnection { response.headers[.connection] = "close" }
        return response
    }
}

extension HTTPResponse.Status {
    /// Status 507 (RFC 4918, section 11.5).
    static let outOfSpace = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}
