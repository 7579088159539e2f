internal import Foundation

/// The place of a record in an engine's order of its kind. It means nothing to other engines.
package struct StoreCursor: Hashable, Sendable {
    /// The values by which the records are ordered, as text.
    package let keys: [String]

    package init(_ keys: [String]) {
        self.keys = keys
    }

    /// Reads ``text``.
    ///
    /// - Throws: ``StoreError/failed(_:)`` for another text.
    package init(text: String) throws(StoreError) {
        guard let keys = try? JSONDecoder().decode([String].self, from: Data(text.utf8)) else {
            throw .failed("\(text) is not the place of a record")
        }
        self.keys = keys
    }

    /// A form that ``init(text:)`` reads.
    package var text: String {
        "[\(keys.map { Self.quoted($0) }.joined(separator: ","))]"
    }

    private static func quoted(_ key: String) -> String {
        var quoted = "\""
        for scalar in key.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                quoted.unicodeScalars.append("\\")
                quoted.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
