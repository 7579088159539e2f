package import CameoModel
package import Foundation

/// The headers by which a receiver knows who sent a message and when, as Standard Webhooks defines them
/// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
package enum WebhookSignature {
    /// The headers of one try, made at `time`. The id is the same for each try; one signature is made with each key.
    package static func headers(
        id: String,
        time: Date,
        body: Data,
        keys: [HMACKey]
    ) -> [(name: String, value: String)] {
        let timestamp = String(Int64(time.timeIntervalSince1970))
        let signed = Array("\(id).\(timestamp).".utf8) + Array(body)
        let signatures = keys.map { "v1,\(Data($0.code(of: signed)).base64EncodedString())" }
        return [
            ("webhook-id", id), ("webhook-timestamp", timestamp),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}
