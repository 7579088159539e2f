internal import Foundation

/// The single byte range that a `Range` field requests (RFC 9110, section 14).
package enum ByteRange: Hashable, Sendable {
    case satisfiable(Range<Int>)
    case unsatisfiable

    /// Returns nil for a field that a server may ignore: another unit, several ranges, or malformed text.
    ///
    /// - Parameters:
    ///   - field: the field's value, such as `bytes=0-99`, `bytes=100-` or `bytes=-50`.
    ///   - length: the length of the whole representation in bytes.
    package init?(_ field: String, length: Int) {
        guard field.lowercased().hasPrefix("bytes=") else { return nil }
        let parts = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            parts.allSatisfy({ $0.count <= 18 })
        else { return nil }
        switch (Int(parts[0]), Int(parts[1])) {
        case (nil, nil): return nil
        case (nil, .some(let suffix)):
            self = suffix > 0 && length > 0 ? .satisfiable(max(0, length - suffix)..<length) : .unsatisfiable
        case (.some(let first), nil):
            self = first < length ? .satisfiable(first..<length) : .unsatisfiable
        case (.some(let first), .some(let last)):
            guard first <= last else { return nil }
            self = first < length ? .satisfiable(first..<min(length, last + 1)) : .unsatisfiable
        }
    }
}
