internal import CameoHTTPCache
internal import CameoHTTPTransfer
internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation
internal import Glibc
internal import Synchronization

/// Sends signed requests to a bucket, and repeats what failed for a passing reason.
final class BucketClient: Sendable {
    let name: BucketName
    let configuration: ObjectStorageConfiguration
    let threads: BlockingThreads<EasyHandle>
    private let signer: RequestSigner
    private let credentials: CredentialCache
    /// How far the server's clock is ahead of this machine's, in seconds, if signatures have shown that.
    private let offset = Mutex<TimeInterval>(0)
    /// The server's clock as its answers show it, carried on by the one clock of this machine that nobody sets; nil if no
    /// answer has shown it yet.
    private let seen = Mutex<(date: Date, at: ContinuousClock.Instant)?>(nil)
    /// Whether the server has refused a checksum's header by name.
    private let refusesChecksums = Mutex(false)

    init(_ name: BucketName, _ configuration: ObjectStorageConfiguration) throws(StoreError) {
        if let trouble = CurlLibrary.trouble { throw .failed("libcurl \(trouble)") }
        self.name = name
        self.configuration = configuration
        signer = RequestSigner(region: name.region)
        let authorities = configuration.certificateAuthorities
        threads = BlockingThreads(limit: configuration.concurrency, name: "cameo-objects") {
            guard let easy = try? EasyHandle(certificateAuthorities: authorities) else {
                preconditionFailure("no memory for a handle of libcurl")
            }
            return easy
        }
        credentials = CredentialCache(
            CredentialSource(name.credentials, environment: configuration.environment),
            environment: configuration.environment,
            threads: threads,
            now: configuration.now
        )
    }

    deinit { threads.shutdown() }

    /// Now, by the server's clock as far as it is known.
    var now: Date { configuration.now().addingTimeInterval(offset.withLock { $0 }) }

    /// Sends a request, which can be repeated without harm, until it is answered by 2xx or by a status that it accepts.
    func send(_ request: BucketRequest) async throws(StoreError) -> HTTPResponse {
        let begun = ContinuousClock.now
        var (failures, isRenewed, isTimed, isPlain) = (0, false, false, false)
        var request = request
        while true {
            let (answer, used) = await attempt(request)
            switch answer {
            case .response(let response): return response
            case .undecodable: request.destination.decodes = false
            case .failed(let error) where !isPlain && error.description.contains(BucketRequest.checksumHeader):
                isPlain = true
                refusesChecksums.withLock { $0 = true }
            case .failed(let error): throw error
            case .wrongTime(let time) where !isTimed:
                isTimed = true
                let local = configuration.now()
                offset.withLock { $0 = time.timeIntervalSince(local) }
            case .wrongTime(let time):
                throw .denied(location: name.text, reason: "the server's clock shows \(WireFormat.text(of: time))")
            case .refused(let error):
                guard !isRenewed, let used, await credentials.drop(used) else { throw error }
                isRenewed = true
            case .passing(let reason, let asked):
                failures += 1
                let pause = configuration.retries.pause(
                    after: failures,
                    elapsed: begun.duration(to: .now),
                    asked: asked,
                    random: configuration.random()
                )
                guard let pause, !threads.isClosed, (try? await Task.sleep(for: pause)) != nil else {
                    throw .unreachable(location: name.text, reason: reason)
                }
            }
        }
    }

    /// A URL of an object that is valid for everyone until it expires.
    func temporaryURL(
        of key: String,
        query: [(name: String, value: String)],
        on terms: TemporaryURLTerms
    ) async throws(StoreError) -> TemporaryURL {
        // A program that only signs URLs sends no request whose refusal would correct its time, so one is sent first.
        if serverTime == nil { _ = try await send(BucketRequest(method: .head, key: key, accepted: [404])) }
        let now = serverTime ?? self.now
        let credentials: Credentials
        do throws(CredentialsUnavailable) {
            credentials = try await self.credentials.credentials()
        } catch {
            throw unavailable(error)
        }
        let window = SigningWindow(lifetime: terms.lifetime, now: now, credentialsEnd: credentials.expiresAt)
        let place = place(of: key, at: terms.endpoint)
        let request = CanonicalRequest(
            method: terms.method == .head ? .head : .get,
            path: place.path,
            query: query,
            headers: [("host", place.host)],
            payload: RequestSigner.unsignedPayload
        )
        let signed = signer.query(presigning: request, with: credentials, at: window.start, validFor: window.seconds)
        let origin = origin(at: terms.endpoint)
        return TemporaryURL(text: "\(origin)\(place.path)?\(signed)", remaining: window.remaining(at: now))
    }

    /// The scheme, host and port of what is at an endpoint; nil: at the one of the bucket's name.
    func origin(at endpoint: Endpoint? = nil) -> String {
        "\((endpoint ?? name.endpoint).scheme)://\(place(of: nil, at: endpoint).host)"
    }

    /// Up to a second, or what an answer took to arrive, behind the server's.
    private var serverTime: Date? {
        seen.withLock { $0.map { $0.date.addingTimeInterval($0.at.duration(to: .now) / .seconds(1)) } }
    }

    /// One attempt, with the credentials that it was signed with.
    private func attempt(_ request: BucketRequest) async -> (BucketAnswer, Credentials?) {
        let credentials: Credentials
        do throws(CredentialsUnavailable) {
            credentials = try await self.credentials.credentials()
        } catch {
            return (error.isPassing ? .passing(reason: "\(error)", asked: nil) : .failed(unavailable(error)), nil)
        }
        let signedAt = now
        switch await threads.perform(signed(request, with: credentials, at: signedAt)) {
        case .success(let response):
            let local = configuration.now()
            if let date = response.date(local) { seen.withLock { $0 = (date, .now) } }
            return (BucketAnswer(response, to: request, signedAt: signedAt, name: name, now: local), credentials)
        case .failure(let failure): return (BucketAnswer(failure, of: request, name: name), credentials)
        }
    }

    private func unavailable(_ error: CredentialsUnavailable) -> StoreError {
        error.isPassing
            ? .unreachable(location: name.text, reason: "\(error)") : .denied(location: name.text, reason: "\(error)")
    }

    private func signed(_ request: BucketRequest, with credentials: Credentials, at date: Date) -> HTTPRequest {
        let place = place(of: request.key)
        let checksums = refusesChecksums.withLock { $0 } ? [] : request.checksums
        let canonical = CanonicalRequest(
            method: request.method,
            path: place.path,
            query: request.query,
            headers: [("host", place.host)] + request.headers + checksums,
            payload: request.digest.hex
        )
        let query = canonical.queryText
        var limits = configuration.limits
        if let silence = request.silence {
            limits.stall = max(limits.stall, silence)
            limits.overhead = max(limits.overhead, silence)
        }
        return HTTPRequest(
            method: request.method,
            url: "\(origin())\(place.path)\(query.isEmpty ? "" : "?\(query)")",
            headers: signer.headers(signing: canonical, with: credentials, at: date).filter { $0.name != "host" },
            body: request.body,
            destination: request.destination,
            limits: limits
        )
    }

    /// Host and path of an object, or of the bucket, at an endpoint; nil: at the one of the bucket's name. Keys have no
    /// character that a path would encode.
    private func place(of key: String?, at endpoint: Endpoint? = nil) -> (host: String, path: String) {
        let authority = (endpoint ?? name.endpoint).authority
        return switch name.addressing {
        case .path: (authority, "/\(name.bucket)\(key.map { "/\($0)" } ?? "")")
        case .virtual: ("\(name.bucket).\(authority)", "/\(key ?? "")")
        }
    }
}

/// A request to a bucket, before it is signed.
struct BucketRequest: Sendable {
    var method: HTTPRequest.Method
    /// The name of the object within the bucket; nil for the bucket itself.
    var key: String?
    var query: [(name: String, value: String)] = []
    /// Names in lower case. All of them are signed.
    var headers: [(name: String, value: String)] = []
    var body: Data?
    /// The SHA-256 of the body.
    var digest = Self.emptyDigest
    var destination = BodyDestination()
    /// Whether the beginning of an answer that is longer than its destination's limit is an answer too, and no failure.
    var mayBeLong = false
    /// Statuses beyond 2xx that are answers too, and no failures.
    var accepted: Set<Int> = []
    /// How long the server may work in silence before it answers; nil for the usual ``TransferLimits``.
    var silence: Duration?
    /// Whether an answer of 200 may contain an error, because the server began it before it was done.
    var mayFailLate = false

    static let emptyDigest = BlobDigest(of: Data())

    static let checksumHeader = "x-amz-checksum-"

    /// The headers for what a server keeps: a bucket with Object Lock wants them, although the signature has the digest. Some
    /// servers refuse them by name, and get the request again without them
    /// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html).
    var checksums: [(name: String, value: String)] {
        switch method {
        case .put: [(Self.checksumHeader + "sha256", digest.base64)]
        case .post where query.first?.name == "uploads": [(Self.checksumHeader + "algorithm", "SHA256")]
        default: []
        }
    }

    /// Leaves an object that exists as it is: the answer is then 412, or 501 of a server that does not know conditions.
    mutating func keepExisting() {
        headers.append(("if-none-match", "*"))
        accepted.formUnion([412, 501])
    }
}

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
    /// The body is not in the coding that the answer names, or in one that nobody knows.
    case undecodable

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

    /// `signedAt` is the time of the signature, `now` that of this machine's clock.
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
        case 301, 302, 303, 307, 308:
            let region = response.headers["x-amz-bucket-region"].map { "; the bucket's region is \($0)" }
            let host = response.headers["location"].flatMap { URL(string: $0)?.host() }.map { "; it leads to \($0)" }
            self = .failed(.denied(location: name.text, reason: text + (region ?? host ?? "")))
        case 400 where Self.refusalCodes.contains(error.code) || (request.method == .head && error.code.isEmpty), 401,
            403:
            if let time = response.date(now), abs(time.timeIntervalSince(signedAt)) > Self.tolerance {
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
        case .curl(let code) where code.kind == .wronglyEncoded && request.destination.decodes: self = .undecodable
        case .curl, .cancelled: self = .failed(.unreachable(location: name.text, reason: "\(failure)"))
        case .longBody(let response) where request.mayBeLong: self = .response(response)
        case .longBody: self = .failed(.failed("the storage's answer is longer than expected"))
        case .file(let error):
            self = .failed(
                error.code == ENOSPC ? .full(path: "the temporary folder") : .failed("a temporary file: \(error)")
            )
        }
    }
}

extension HTTPResponse {
    fileprivate func date(_ now: Date) -> Date? { headers["date"].flatMap { HTTPDate.parse($0, now: now) } }
}
