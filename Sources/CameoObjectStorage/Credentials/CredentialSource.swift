internal import Foundation

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
