internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Synchronization

/// Sends signed requests to a bucket, and repeats what failed for a passing reason.
final class BucketClient: Sendable {
    let name: BucketName
    let configuration: ObjectStorageConfiguration
    let threads: BlockingThreads<CurlHandle>
    private let signer: RequestSigner
    private let credentials: CredentialCache
    /// How far the server's clock is ahead of this machine's, in seconds, if signatures have shown that.
    private let offset = Mutex<TimeInterval>(0)

    init(_ name: BucketName, _ configuration: ObjectStorageConfiguration) throws(StoreError) {
        try CurlLibrary.start()
        self.name = name
        self.configuration = configuration
        signer = RequestSigner(region: name.region)
        let authorities = configuration.certificateAuthorities
        threads = BlockingThreads(limit: configuration.concurrency, name: "cameo-objects") {
            CurlHandle(certificateAuthorities: authorities)
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

    /// Sends a request until it is answered.
    ///
    /// - Parameter request: one that can be repeated without harm.
    /// - Returns: an answer of 2xx, or of a status that the request accepts.
    /// - Throws: ``StoreError``
    func send(_ request: BucketRequest) async throws(StoreError) -> HTTPResponse {
        let begun = ContinuousClock.now
        var (failures, isRenewed, isTimed) = (0, false, false)
        while true {
            let (answer, used) = await attempt(request)
            switch answer {
            case .response(let response): return response
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
        validFor lifetime: Duration
    ) async throws(StoreError) -> String {
        let credentials: Credentials
        do throws(CredentialsUnavailable) {
            credentials = try await self.credentials.credentials()
        } catch {
            throw unavailable(error)
        }
        let left = credentials.expiresAt.map { Int($0.timeIntervalSince(now)) } ?? RequestSigner.longestLifetime
        let seconds = min(max(1, lifetime.milliseconds / 1_000), RequestSigner.longestLifetime, max(1, left))
        let place = place(of: key)
        let request = CanonicalRequest(
            method: .get,
            path: place.path,
            query: query,
            headers: [("host", place.host)],
            payload: RequestSigner.unsignedPayload
        )
        let signed = signer.query(presigning: request, with: credentials, at: now, validFor: seconds)
        return "\(name.endpoint.scheme)://\(place.host)\(place.path)?\(signed)"
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
        let canonical = CanonicalRequest(
            method: request.method,
            path: place.path,
            query: request.query,
            headers: [("host", place.host)] + request.headers,
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
            url: "\(name.endpoint.scheme)://\(place.host)\(place.path)\(query.isEmpty ? "" : "?\(query)")",
            headers: signer.headers(signing: canonical, with: credentials, at: date).filter { $0.name != "host" },
            body: request.body,
            destination: request.destination,
            limits: limits
        )
    }

    /// Host and path of an object, or of the bucket. Keys have no character that a path would encode.
    private func place(of key: String?) -> (host: String, path: String) {
        switch name.addressing {
        case .path: (name.endpoint.authority, "/\(name.bucket)\(key.map { "/\($0)" } ?? "")")
        case .virtual: ("\(name.bucket).\(name.endpoint.authority)", "/\(key ?? "")")
        }
    }
}
