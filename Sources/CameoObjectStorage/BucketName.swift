internal import CameoModel
package import CameoStore
internal import Foundation

/// A place in an S3-compatible storage, as
/// `s3://bucket/prefix?endpoint=https://host&region=name&addressing=path&credentials=file`.
package struct BucketName: Hashable, Sendable {
    /// How a bucket stands in a URL.
    enum Addressing: String, Sendable {
        /// `https://host/bucket/key`
        case path
        /// `https://bucket.host/key`
        case virtual
    }

    let bucket: String
    /// Segments separated by slashes; empty for the whole bucket.
    let prefix: String
    let endpoint: Endpoint
    let region: String
    let addressing: Addressing
    let credentials: CredentialSource.Kind?

    /// Parses a URL of the scheme `s3`. It has no secrets: credentials come from elsewhere. The region of a name that has none
    /// is the environment's AWS_REGION or AWS_DEFAULT_REGION.
    ///
    /// - Throws: ``StoreError/cannotOpen(path:reason:)``
    package init(_ text: String, environment: [String: String]) throws(StoreError) {
        // For messages: any part of a name with an `@`, and a query, may be a secret.
        let shown = text.contains("@") ? "s3://…" : String(text.prefix { $0 != "?" })
        func wrong(_ reason: String) -> StoreError { .cannotOpen(path: shown, reason: reason) }
        guard text.utf8.count <= 2_000, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), text.hasPrefix("s3://"),
            !text.contains("#")
        else { throw wrong("it is not a URL of the form s3://bucket/prefix?endpoint=https://host&region=name") }
        guard !text.contains("@") else {
            throw wrong("credentials do not belong in a name; \(Self.credentialsAdvice)")
        }
        let parts = text.dropFirst(5).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        bucket = path[0]
        guard Self.isBucket(bucket) else {
            throw wrong("a bucket's name has 3 to 63 lower-case letters, digits, hyphens and dots")
        }
        // A slash at the end is harmless.
        let segments = path.dropFirst().last == "" ? Array(path[1..<(path.count - 1)]) : Array(path.dropFirst())
        guard segments.allSatisfy(Self.isSegment), segments.joined(separator: "/").utf8.count <= 512 else {
            throw wrong("a prefix has letters, digits, hyphens, underscores and dots between single slashes")
        }
        prefix = segments.joined(separator: "/")
        let options = try Self.options(parts.count > 1 ? parts[1] : "", wrong)
        func option<Value>(_ name: String, _ rule: String, _ read: (String) -> Value?) throws(StoreError) -> Value? {
            guard let text = options[name] else { return nil }
            guard let value = read(text) else { throw wrong(rule) }
            return value
        }
        let fallback = ["AWS_REGION", "AWS_DEFAULT_REGION"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        region = options["region"] ?? fallback ?? "us-east-1"
        guard Self.isRegion(region) else { throw wrong("\(region) is not a region's name") }
        let form = "an endpoint is https://host or http://host, perhaps with a port"
        let own = try option("endpoint", form) { Endpoint($0) }
        endpoint = own ?? .aws(region: region)
        // A bucket with a dot has no certificate as a host's name.
        addressing =
            try option("addressing", "addressing is path or virtual", Addressing.init(rawValue:))
            ?? (own == nil && !bucket.contains(".") ? .virtual : .path)
        let kinds = "credentials is environment, file or instance"
        credentials = try option("credentials", kinds, CredentialSource.Kind.init(rawValue:))
    }

    /// The options by their names, of which each is known and given once; values may be percent-encoded.
    private static func options(
        _ query: Substring,
        _ wrong: (String) -> StoreError
    ) throws(StoreError) -> [String: String] {
        var options: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard parts.count == 2,
                let value = PercentEncoding.decoded(parts[1].utf8)
                    .flatMap({ String(validating: $0, as: UTF8.self) })
            else { throw wrong("\(name) has no value") }
            // Not its value, which may be a secret.
            guard ["endpoint", "region", "addressing", "credentials"].contains(name) else {
                throw wrong("there is no option \(name); there are endpoint, region, addressing and credentials")
            }
            guard options.updateValue(value, forKey: name) == nil else { throw wrong("\(name) is given twice") }
        }
        return options
    }

    private static let credentialsAdvice =
        "they come from the environment, the shared credentials file or the instance"

    /// The name with all its options, by which it can be parsed again.
    package var text: String {
        let path = prefix.isEmpty ? bucket : "\(bucket)/\(prefix)"
        let source = credentials.map { "&credentials=\($0.rawValue)" } ?? ""
        return "s3://\(path)?endpoint=\(endpoint.text)&region=\(region)&addressing=\(addressing.rawValue)\(source)"
    }

    private static func isRegion(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter || "-_".utf8.contains($0) }
    }

    private static func isBucket(_ name: String) -> Bool {
        (3...63).contains(name.utf8.count) && !name.contains("..")
            && name.utf8.allSatisfy { $0.isASCIIDigit || (0x61...0x7A).contains($0) || "-.".utf8.contains($0) }
            && name.utf8.first != 0x2E && name.utf8.last != 0x2E
    }

    /// Only characters that are never encoded, and no segment that a URL would resolve.
    private static func isSegment(_ segment: String) -> Bool {
        !segment.isEmpty && segment != "." && segment != ".."
            && segment.utf8.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter || "-_.".utf8.contains($0) }
    }
}

extension Endpoint {
    /// The endpoint of S3 itself in a region.
    static func aws(region: String) -> Endpoint {
        Endpoint(secureHost: "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")")
    }
}
