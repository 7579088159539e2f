/// Why there are no credentials, in words.
struct CredentialsUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String
    /// Whether there may be some a moment later, without anybody's doing.
    let isPassing: Bool

    init(_ description: String, isPassing: Bool = false) {
        (self.description, self.isPassing) = (description, isPassing)
    }
}
