internal import Foundation

/// What of a stored answer a request wants, by its conditions and its range (RFC 9110, sections 13 and 14).
package struct RequestConditions: Hashable, Sendable {
    /// What to answer with.
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

    /// - Parameter field: the value of a request's header field; several of one name with commas between them.
    package init(_ field: (_ name: String) -> String?) {
        ifNoneMatch = field("If-None-Match")
        ifModifiedSince = field("If-Modified-Since")
        ifRange = field("If-Range")
        range = field("Range")
    }

    /// Whether the requester has the bytes already (sections 13.1.2, 13.1.3): entity tags count before dates.
    package func isNotModified(entityTag: String?, lastModified: String?) -> Bool {
        if let ifNoneMatch {
            // A tag with a comma in it is not found here, and its bytes are sent once more.
            let tags = ifNoneMatch.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let own = entityTag.map(Self.opaque)
            return tags.contains("*") || tags.contains { own != nil && Self.opaque($0) == own }
        }
        guard let ifModifiedSince else { return false }
        // Dates are compared as texts, which is right for who sends back what it was sent.
        return ifModifiedSince == lastModified
    }

    /// Of a representation of so many bytes. A range is a matter of GET alone.
    package func part(of length: Int, entityTag: String?, lastModified: String?, isGET: Bool) -> Part {
        guard !isNotModified(entityTag: entityTag, lastModified: lastModified) else { return .notModified }
        // Section 13.1.5: a part is for who has other parts of the same bytes.
        guard isGET, let range, allowsRange(entityTag: entityTag, lastModified: lastModified) else { return .whole }
        return switch ByteRange(range, length: length) {
        case nil: .whole
        case .satisfiable(let range): .range(range)
        case .unsatisfiable: .unsatisfiable
        }
    }

    /// Weak comparison (section 8.8.3.2).
    private static func opaque(_ tag: String) -> String { tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }

    private func allowsRange(entityTag: String?, lastModified: String?) -> Bool {
        guard let ifRange else { return true }
        return ifRange.hasPrefix("\"") ? ifRange == entityTag : ifRange == lastModified
    }
}
