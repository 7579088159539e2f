internal import CameoStore

extension Endpoint {
    /// The endpoint of S3 itself in a region.
    static func aws(region: String) -> Endpoint {
        Endpoint(secureHost: "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")")
    }
}
