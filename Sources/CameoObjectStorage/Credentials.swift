internal import CameoHTTPTransfer
internal import CameoModel
internal import CameoSystem
internal import Foundation

/// The right to use a bucket. Its text and its mirror show no secret, so that none gets into a log or a failed test.
struct Credentials: Hashable, Sendable {
    let keyID: String
    let secret: String
    /// Only temporary credentials have one.
    var sessionToken: String?
    /// When temporary credentials end; nil for those that do not, or do not tell.
    var expiresAt: Date?
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "credentials" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where credentials come from.
enum CredentialSource: Hashable, Sendable {
    /// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.
    case environment
    /// A profile of the shared credentials file
    /// (https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html).
    case file(path: String, profile: String)
    /// The role of the machine in EC2, from the service at this URL.
    case instance(service: String)

    /// The kinds by which a bucket's name chooses one.
    enum Kind: String, CaseIterable, Sendable {
        case environment, file, instance
    }

    /// The source of a kind; without one, the environment if it has credentials, else the shared file.
    init(_ kind: Kind?, environment: [String: String]) {
        let value = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        switch kind {
        case nil where value("AWS_ACCESS_KEY_ID") != nil, .environment: self = .environment
        case nil, .file:
            let path = value("AWS_SHARED_CREDENTIALS_FILE") ?? "\(value("HOME") ?? "")/.aws/credentials"
            self = .file(path: path, profile: value("AWS_PROFILE") ?? "default")
        case .instance:
            let service = value("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? "http://169.254.169.254"
            self = .instance(service: service.hasSuffix("/") ? String(service.dropLast()) : service)
        }
    }
}

/// Why there are no credentials, in words.
struct CredentialsUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String
    /// Whether there may be some a moment later, without anybody's doing.
    let isPassing: Bool

    init(_ description: String, isPassing: Bool = false) {
        (self.description, self.isPassing) = (description, isPassing)
    }
}

/// The credentials in use, which are fetched anew shortly before they end and when a server no longer takes them.
actor CredentialCache {
    /// How long before their end credentials are replaced.
    private static let margin: TimeInterval = 300

    private let source: CredentialSource
    private let environment: [String: String]
    private let threads: BlockingThreads<EasyHandle>
    private let now: @Sendable () -> Date
    private var current: Credentials?
    private var fetch: Task<Result<Credentials, CredentialsUnavailable>, Never>?

    init(
        _ source: CredentialSource,
        environment: [String: String],
        threads: BlockingThreads<EasyHandle>,
        now: @escaping @Sendable () -> Date
    ) {
        (self.source, self.environment, self.threads, self.now) = (source, environment, threads, now)
    }

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

    /// Forgets credentials that a server refused, unless they have been replaced meanwhile. Returns whether there may be others
    /// now.
    func drop(_ refused: Credentials) async -> Bool {
        if current == refused { current = nil }
        guard source != .environment, let renewed = try? await credentials() else { return false }
        return renewed != refused
    }

    /// One fetch at a time serves all that wait.
    private func fetched() async throws(CredentialsUnavailable) -> Credentials {
        let task =
            fetch
            ?? Task(executorPreference: OwnThread()) { [source, environment, threads] in
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
        _ threads: BlockingThreads<EasyHandle>
    ) async -> Result<Credentials, CredentialsUnavailable> {
        do throws(CredentialsUnavailable) {
            switch source {
            case .environment:
                guard let keyID = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"],
                    !keyID.isEmpty, !secret.isEmpty
                else { throw CredentialsUnavailable("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set") }
                let token = environment["AWS_SESSION_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
                return .success(Credentials(keyID: keyID, secret: secret, sessionToken: token))
            case .file(let path, let profile): return .success(try await fromFile(path, profile, threads))
            case .instance(let service):
                return .success(try await InstanceMetadata(service: service, threads: threads).credentials())
            }
        } catch {
            return .failure(error)
        }
    }

    private static func fromFile(
        _ path: String,
        _ profile: String,
        _ threads: BlockingThreads<EasyHandle>
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

/// The text of a shared credentials file: sections in brackets, lines of a name and a value.
enum CredentialsFile {
    /// The credentials of a profile; nil if there is no such section, or it lacks the key or the secret.
    static func credentials(in text: String, profile: String) -> Credentials? {
        var values: [String: String] = [:]
        var isInside = false
        for line in text.lines.map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("[") {
                isInside = line.dropFirst().prefix { $0 != "]" }.trimmingCharacters(in: .whitespaces) == profile
            } else if isInside, let sign = line.firstIndex(of: "=") {
                let name = line[..<sign].trimmingCharacters(in: .whitespaces).lowercased()
                values[name] = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
            }
        }
        guard let keyID = values["aws_access_key_id"], let secret = values["aws_secret_access_key"],
            !keyID.isEmpty, !secret.isEmpty
        else { return nil }
        return Credentials(keyID: keyID, secret: secret, sessionToken: values["aws_session_token"])
    }
}

/// The credentials of a machine's role, from the metadata service of EC2, version 2
/// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html).
struct InstanceMetadata: Sendable {
    private static let roles = "/latest/meta-data/iam/security-credentials/"
    /// The service is a hop away at most.
    private static let limits = TransferLimits(connect: .seconds(2), stall: .seconds(2), overhead: .seconds(5))

    /// The URL of the service, without a slash at its end.
    let service: String
    let threads: BlockingThreads<EasyHandle>

    /// - Throws: a reason in words.
    func credentials() async throws(CredentialsUnavailable) -> Credentials {
        let token = try await text(.put, "/latest/api/token", [("X-aws-ec2-metadata-token-ttl-seconds", "21600")])
        let headers = [("X-aws-ec2-metadata-token", token)]
        let role = try await text(.get, Self.roles, headers).lines.first
        guard let role, !role.isEmpty else { throw CredentialsUnavailable("the machine has no role") }
        let answer = try await text(.get, Self.roles + PercentEncoding.encoded(String(role)), headers)
        guard let fields = try? JSONDecoder().decode([String: String].self, from: Data(answer.utf8)),
            let keyID = fields["AccessKeyId"], let secret = fields["SecretAccessKey"], let token = fields["Token"],
            let end = fields["Expiration"].flatMap(WireFormat.date(from:))
        else { throw CredentialsUnavailable("the metadata service's answer has no credentials") }
        return Credentials(keyID: keyID, secret: secret, sessionToken: token, expiresAt: end)
    }

    private func text(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ headers: [(name: String, value: String)]
    ) async throws(CredentialsUnavailable) -> String {
        let request = HTTPRequest(
            method: method,
            url: service + path,
            headers: headers,
            body: method == .put ? Data() : nil,
            limits: Self.limits
        )
        switch await threads.perform(request) {
        case .success(let response) where response.status == 200:
            return String(decoding: response.body, as: UTF8.self)
        case .success(let response):
            throw CredentialsUnavailable(
                "the metadata service answered \(response.status) to \(path)",
                isPassing: response.status >= 500
            )
        case .failure(let failure):
            throw CredentialsUnavailable("the metadata service cannot be reached: \(failure)", isPassing: true)
        }
    }
}
