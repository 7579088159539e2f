internal import CameoModel
internal import Foundation

/// The credentials in use, which are fetched anew shortly before they end and when a server no longer takes them.
actor CredentialCache {
    /// How long before their end credentials are replaced.
    private static let margin: TimeInterval = 300

    private let source: CredentialSource
    private let environment: [String: String]
    private let threads: BlockingThreads<CurlHandle>
    private let now: @Sendable () -> Date
    private var current: Credentials?
    private var fetch: Task<Result<Credentials, CredentialsUnavailable>, Never>?

    init(
        _ source: CredentialSource,
        environment: [String: String],
        threads: BlockingThreads<CurlHandle>,
        now: @escaping @Sendable () -> Date
    ) {
        (self.source, self.environment, self.threads, self.now) = (source, environment, threads, now)
    }

    /// - Throws: ``CredentialsUnavailable``
    func credentials() async throws(CredentialsUnavailable) -> Credentials {
        if let current, !ends(current, within: Self.margin) { return current }
        do throws(CredentialsUnavailable) {
            return try await fetched()
        } catch {
            // The old ones are good until their end.
            guard let current, !ends(current, within: 0) else { throw error }
            return current
        }
    }

    /// Forgets credentials that a server refused, unless they have been replaced meanwhile.
    ///
    /// - Returns: whether there may be others now.
    func drop(_ refused: Credentials) async -> Bool {
        if current == refused { current = nil }
        guard source != .environment, let renewed = try? await credentials() else { return false }
        return renewed != refused
    }

    /// One fetch at a time serves all that wait.
    private func fetched() async throws(CredentialsUnavailable) -> Credentials {
        let task =
            fetch
            ?? Task { [source, environment, threads] in
                await Self.fetch(source, environment, threads)
            }
        fetch = task
        let result = await task.value
        if fetch == task { fetch = nil }
        let credentials = try result.get()
        current = credentials
        return credentials
    }

    private func ends(_ credentials: Credentials, within margin: TimeInterval) -> Bool {
        credentials.expiresAt.map { $0.timeIntervalSince(now()) <= margin } ?? false
    }

    private static func fetch(
        _ source: CredentialSource,
        _ environment: [String: String],
        _ threads: BlockingThreads<CurlHandle>
    ) async -> Result<Credentials, CredentialsUnavailable> {
        do throws(CredentialsUnavailable) {
            switch source {
            case .environment: return .success(try fromEnvironment(environment))
            case .file(let path, let profile): return .success(try await fromFile(path, profile, threads))
            case .instance(let service):
                return .success(try await InstanceMetadata(service: service, threads: threads).credentials())
            }
        } catch {
            return .failure(error)
        }
    }

    private static func fromEnvironment(
        _ environment: [String: String]
    ) throws(CredentialsUnavailable) -> Credentials {
        guard let keyID = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"],
            !keyID.isEmpty, !secret.isEmpty
        else { throw CredentialsUnavailable("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set") }
        let token = environment["AWS_SESSION_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
        return Credentials(keyID: keyID, secret: secret, sessionToken: token)
    }

    private static func fromFile(
        _ path: String,
        _ profile: String,
        _ threads: BlockingThreads<CurlHandle>
    ) async throws(CredentialsUnavailable) -> Credentials {
        let text = await threads.run { _, _ in Result { try String(contentsOfFile: path, encoding: .utf8) } }
        switch text {
        case .success(let text):
            guard let credentials = CredentialsFile.credentials(in: text, profile: profile) else {
                throw CredentialsUnavailable("\(path) has no key and secret for the profile \(profile)")
            }
            return credentials
        case .failure(let error):
            throw CredentialsUnavailable("\(path) cannot be read: \(error.localizedDescription)")
        case nil: throw CredentialsUnavailable("the storage was closed")
        }
    }
}
