internal import Foundation

/// A request's preconditions and range, which decide how much of a response to send (RFC 9110, sections 13 and 14).
package struct RequestConditions {
    /// What the preconditions decide, whatever the range.
    package enum Verdict: Hashable, Sendable {
        /// The client already has the bytes: status 304.
        case notModified
        /// The representation is not the one that the client wants to go on with: status 412.
        case preconditionFailed
    }

    /// The part of a representation to send.
    package enum Part: Hashable, Sendable {
        case whole
        case range(Range<Int>)
        case unsatisfiable
    }

    private let field: (_ name: String) -> String?

    /// - Parameter field: returns the value of a request header field; repeated fields are joined with commas.
    package init(_ field: @escaping (_ name: String) -> String?) { self.field = field }

    /// What the preconditions decide, in the order of section 13.2.2; nil if the representation is to be sent. Entity tags
    /// take precedence over dates.
    package func verdict(entityTag: String?, lastModified: String?) -> Verdict? {
        if let ifMatch = field("If-Match") {
            guard Self.list(ifMatch, has: entityTag, weakly: false) else { return .preconditionFailed }
        } else if isAsOld(as: "If-Unmodified-Since", lastModified) == false {
            return .preconditionFailed
        }
        if let ifNoneMatch = field("If-None-Match") {
            return Self.list(ifNoneMatch, has: entityTag, weakly: true) ? .notModified : nil
        }
        return isAsOld(as: "If-Modified-Since", lastModified) == true ? .notModified : nil
    }

    /// Whether the representation has not changed since the date in a field; nil if one of the dates is none.
    private func isAsOld(as name: String, _ lastModified: String?) -> Bool? {
        guard let limit = field(name).flatMap(Self.date), let modified = lastModified.flatMap(Self.date) else {
            return nil
        }
        return modified <= limit
    }

    /// The part to send of a representation of `length` bytes. Ranges apply to GET only.
    package func part(of length: Int, entityTag: String?, lastModified: String?, isGET: Bool) -> Part {
        // Section 13.1.5: a range is sent only if the client's other parts come from the same representation.
        guard isGET, let range = field("Range") else { return .whole }
        if let ifRange = field("If-Range") {
            let date = Self.date(ifRange)
            let isTheSame = date == nil ? ifRange == entityTag : date == lastModified.flatMap(Self.date)
            guard isTheSame, !ifRange.hasPrefix("W/") else { return .whole }
        }
        return Part(range, of: length)
    }

    /// Whether an entity tag is in a list, or the list is `*`, by the weak comparison or else by the strong one (section
    /// 8.8.3.2). A tag may contain a comma.
    private static func list(_ list: String, has tag: String?, weakly isWeak: Bool) -> Bool {
        // Every second part stood between quotation marks, and the one before it says whether the tag is weak.
        let parts = list.split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return list.trimmingCharacters(in: .whitespaces) == "*" }
        guard let tag, isWeak || !tag.hasPrefix("W/") else { return false }
        let own = tag.dropFirst(tag.hasPrefix("W/") ? 2 : 0)
        return stride(from: 1, to: parts.count - 1, by: 2).contains { index in
            "\"\(parts[index])\"" == own && (isWeak || !parts[index - 1].hasSuffix("W/"))
        }
    }

    private static func date(_ text: String) -> Date? { HTTPDate.parse(text, now: Date()) }
}

extension RequestConditions.Part {
    /// By the single byte range of a `Range` field (RFC 9110, section 14), such as `bytes=0-99`, `bytes=100-` or `bytes=-50`.
    /// A field that a server may ignore means the whole: another unit, several ranges, or malformed text.
    fileprivate init(_ field: String, of length: Int) {
        self = .whole
        guard field.lowercased().hasPrefix("bytes=") else { return }
        let parts = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            parts.allSatisfy({ $0.count <= 18 })
        else { return }
        switch (Int(parts[0]), Int(parts[1])) {
        case (nil, nil): break
        case (nil, .some(let suffix)):
            self = suffix > 0 && length > 0 ? .range(max(0, length - suffix)..<length) : .unsatisfiable
        case (.some(let first), nil):
            self = first < length ? .range(first..<length) : .unsatisfiable
        case (.some(let first), .some(let last)):
            guard first <= last else { return }
            self = first < length ? .range(first..<min(length, last + 1)) : .unsatisfiable
        }
    }
}
