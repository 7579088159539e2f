internal import CameoModel

extension Placeholder {
    init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        guard let color = Color(try reader.string("dominantColor", maximumBytes: 16)) else {
            throw MalformedMessage("dominantColor must be a colour")
        }
        let thumbHash = try reader.string("thumbHash", maximumBytes: 36)
        guard Self.isThumbHash(thumbHash) else { throw MalformedMessage("thumbHash must be base64") }
        let blurHash = try reader.string("blurHash", maximumBytes: 128)
        guard Self.isBlurHash(blurHash) else { throw MalformedMessage("blurHash must be 6…128 base-83 digits") }
        self.init(thumbHash: thumbHash, blurHash: blurHash, dominantColor: color)
    }

    /// Whether the text has four or more base64 digits and at most two `=`, as the queue's tables and JSON Schema
    /// require.
    private static func isThumbHash(_ text: String) -> Bool {
        let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        return digits.count >= 4 && text.utf8.count - digits.count <= 2 && digits.allSatisfy(letters.contains)
    }

    /// Whether the text has only digits of BlurHash
    /// (https://github.com/woltapp/blurhash/blob/master/Algorithm.md#base-83).
    private static func isBlurHash(_ text: String) -> Bool {
        let digits = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)
        return (6...128).contains(text.utf8.count) && text.utf8.allSatisfy(digits.contains)
    }

    var json: JSONValue {
        .object([
            "thumbHash": .string(thumbHash),
            "blurHash": .string(blurHash),
            "dominantColor": .string(dominantColor.description),
        ])
    }
}
