internal import CameoModel
internal import CameoStore
internal import Foundation

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
    var destination: BodyDestination = .memory(limit: HTTPResponse.textLimit)
    /// The error of an answer that is longer than its destination's limit.
    var tooLong = StoreError.failed("the storage's answer is longer than expected")
    /// Statuses beyond 2xx that are answers too, and no failures.
    var accepted: Set<Int> = []
    /// How long the server may work in silence before it answers; nil for the usual ``TransferLimits``.
    var silence: Duration?
    /// Whether an answer of 200 may contain an error, because the server began it before it was done.
    var mayFailLate = false

    static let emptyDigest = SHA256.digest(of: Data())
}
