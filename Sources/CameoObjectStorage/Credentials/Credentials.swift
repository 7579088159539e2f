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
