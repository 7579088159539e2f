internal import CameoModel
internal import CameoStore
internal import Foundation

/// The options in a bucket's name.
struct BucketOptions {
    private(set) var endpoint: Endpoint?
    private(set) var region: String?
    private(set) var addressing: BucketName.Addressing?
    private(set) var credentials: CredentialSource.Kind?

    /// - Parameter query: the text after the question mark; values may be percent-encoded.
    /// - Throws: ``InvalidOption`` for an option that is unknown, given twice or has no valid value.
    init(_ query: String) throws(InvalidOption) {
        var seen: Set<String> = []
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard parts.count == 2,
                let value = PercentEncoding.decoded(parts[1].utf8)
                    .flatMap({ String(validating: $0, as: UTF8.self) })
            else { throw InvalidOption("\(name) has no value") }
            guard seen.insert(name).inserted else { throw InvalidOption("\(name) is given twice") }
            try set(name, value)
        }
    }

    private mutating func set(_ name: String, _ value: String) throws(InvalidOption) {
        switch name {
        case "endpoint":
            endpoint = Endpoint(value)
            guard endpoint != nil else {
                throw InvalidOption("an endpoint is https://host or http://host, perhaps with a port")
            }
        case "region":
            region = value
            guard Self.isRegion(value) else { throw InvalidOption("\(value) is not a region's name") }
        case "addressing":
            addressing = BucketName.Addressing(rawValue: value)
            guard addressing != nil else { throw InvalidOption("addressing is path or virtual") }
        case "credentials":
            credentials = CredentialSource.Kind(rawValue: value)
            guard credentials != nil else { throw InvalidOption("credentials is environment, file or instance") }
        default:
            // Not its value, which may be a secret.
            throw InvalidOption("there is no option \(name); there are endpoint, region, addressing and credentials")
        }
    }

    static func isRegion(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_".utf8.contains(byte)
            }
    }
}

/// What is wrong with an option, in words.
struct InvalidOption: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
