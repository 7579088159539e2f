internal import CameoModel
internal import Foundation

/// The credentials of a machine's role, from the metadata service of EC2, version 2
/// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html).
struct InstanceMetadata: Sendable {
    private static let roles = "/latest/meta-data/iam/security-credentials/"
    /// The service is a hop away at most.
    private static let limits = TransferLimits(connect: .seconds(2), stall: .seconds(2), overhead: .seconds(5))

    /// The URL of the service, without a slash at its end.
    let service: String
    let threads: BlockingThreads<CurlHandle>

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
