internal import CameoHTTPCache
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Glibc

/// What to make of the outcome of one attempt.
enum BucketAnswer {
    case response(HTTPResponse)
    /// A later attempt may succeed.
    case passing(reason: String, asked: Duration?)
    /// The server refuses the signature or the credentials, perhaps because they have ended.
    case refused(StoreError)
    /// The request was signed with a wrong time; the server's is this.
    case wrongTime(Date)
    case failed(StoreError)
}

extension BucketAnswer {
    /// How far the clocks may differ. Servers refuse from a quarter of an hour.
    private static let tolerance: TimeInterval = 240
    private static let passingStatuses: Set = [408, 409, 429, 500, 502, 503, 504]
    private static let passingCodes: Set = [
        "RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable", "OperationAborted",
    ]
    private static let refusalCodes: Set = [
        "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId",
    ]
    private static let fullCodes: Set = ["QuotaExceeded", "XMinioStorageFull", "InsufficientStorage"]

    /// - Parameters:
    ///   - response: the server's answer.
    ///   - request: what was asked.
    ///   - signedAt: the time of the signature.
    ///   - name: the bucket's, for messages.
    ///   - now: the time by this machine's clock.
    init(_ response: HTTPResponse, to request: BucketRequest, signedAt: Date, name: BucketName, now: Date) {
        var (status, error) = (response.status, ServerError())
        if !response.isSuccess {
            error = ServerError(response.body)
        } else if request.mayFailLate, AnswerParser.root(of: response.body)?.name == "Error" {
            (status, error) = (500, ServerError(response.body))
        }
        let text = error.text(status: status)
        switch status {
        case 200..<300: self = .response(response)
        case _ where request.accepted.contains(status) && error.code != "NoSuchBucket": self = .response(response)
        case _ where Self.fullCodes.contains(error.code), 507: self = .failed(.full(path: name.text))
        case _ where Self.passingStatuses.contains(status) || Self.passingCodes.contains(error.code):
            self = .passing(
                reason: text,
                asked: response.headers["retry-after"].flatMap { Int($0) }.map { .seconds($0) }
            )
        case 301, 302, 307, 308:
            let region = response.headers["x-amz-bucket-region"].map { "; the bucket's region is \($0)" } ?? ""
            self = .failed(.denied(location: name.text, reason: text + region))
        case 400 where Self.refusalCodes.contains(error.code) || (request.method == .head && error.code.isEmpty), 401,
            403:
            if let time = Self.serverTime(response, now), abs(time.timeIntervalSince(signedAt)) > Self.tolerance {
                self = .wrongTime(time)
            } else {
                self = .refused(.denied(location: name.text, reason: text))
            }
        case 400 where error.code == "AuthorizationHeaderMalformed", 404 where error.code == "NoSuchBucket":
            self = .failed(.denied(location: name.text, reason: text))
        // What a server refuses for good concerns the bucket, not one picture: its settings, its locks, its keys.
        case 400..<500 where request.method != .get: self = .failed(.denied(location: name.text, reason: text))
        default: self = .failed(.failed("\(name.text): \(text)"))
        }
    }

    init(_ failure: TransferFailure, of request: BucketRequest, name: BucketName) {
        switch failure {
        case .curl(let code) where code.isPassing: self = .passing(reason: "\(code)", asked: nil)
        case .curl, .cancelled: self = .failed(.unreachable(location: name.text, reason: "\(failure)"))
        case .longBody: self = .failed(request.tooLong)
        case .file(let error):
            self = .failed(
                error.code == ENOSPC ? .full(path: "the temporary folder") : .failed("a temporary file: \(error)")
            )
        }
    }

    private static func serverTime(_ response: HTTPResponse, _ now: Date) -> Date? {
        response.headers["date"].flatMap { HTTPDate.parse($0, now: now) }
    }
}
