internal import Foundation

/// A request's preconditions and range, which decide how much of a response to send (RFC 9110, sections 13 and 14).
package struct RequestConditions: Hashable, Sendable {
    /// The part of a representation to send.
    package enum Part: Hashable, Sendable {
        case notModified
        case whole
        case range(Range<Int>)
        case unsatisfiable
    }

    private let ifNoneMatch: String?
    private let ifModifiedSince: String?
    private let ifRange: String?
    private let range: String?

    /// - Parameter field: returns the value of a request header field; repeated fields are joined with commas.
    package init(_ field: (_ name: String) -> String?) {
        ifNoneMatch = field("If-None-Match")
        ifModifiedSince = field("If-Modified-Since")
        ifRange = field("If-Range")
        range = field("Range")
    }

    /// Whether the client already has the bytes (sections 13.1.2 and 13.1.3). Entity tags take precedence over dates.
    package func isNotModified(entityTag: String?, lastModified: String?) -> Bool {
        if let ifNoneMatch {
            // A tag that contains a comma never matches here, so its bytes are sent again.
            let tags = ifNoneMatch.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let own = entityTag.map(Self.opaque)
            return tags.contains("*") || tags.contains { own != nil && Self.opaque($0) == own }
        }
        guard let ifModifiedSince else { return false }
        // Dates are compared as text, which is correct for clients that echo the date they received.
        return ifModifiedSince == lastModified
    }

    /// The part to send of a representation of `length` bytes. Ranges apply to GET only.
    package func part(of length: Int, entityTag: String?, lastModified: String?, isGET: Bool) -> Part {
        guard !isNotModified(entityTag: entityTag, lastModified: lastModified) else { return .notModified }
        // Section 13.1.5: a range is sent only if the client's other parts come from the same representation.
        guard isGET, let range, allowsRange(entityTag: entityTag, lastModified: lastModified) else { return .whole }
        return switch ByteRange(range, length: length) {
        case nil: .whole
        case .satisfiable(let range): .range(range)
        case .unsatisfiable: .unsatisfiable
        }
    }

    /// The opaque tag without its weakness prefix, for weak comparison (section 8.8.3.2).
    private static func opaque(_ tag: String) -> String { tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }

    private func allowsRange(entityTag: String?, lastModified: String?) -> Bool {
        guard let ifRange else { return true }
        return ifRange.hasPrefix("\"") ? ifRange == entityTag : ifRange == lastModified
    }
}

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
