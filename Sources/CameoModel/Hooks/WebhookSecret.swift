internal import Foundation

/// A secret of a webhook in the notation of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64.
package struct WebhookSecret: Hashable, Sendable {
    private static let prefix = "whsec_"
    private static let lengths = 24...64

    /// The text as configured.
    package let text: String
    package let key: HMACKey

    /// Returns nil for any other text.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            Self.lengths.contains(bytes.count)
        else { return nil }
        self.text = text
        key = HMACKey(Array(bytes))
    }

    /// What to say of a text that is no secret, without repeating it.
    package static let rule =
        "must be whsec_ and 24 to 64 bytes in base64, as `echo whsec_$(openssl rand -base64 32)` makes"
}
