/// The directives of `Cache-Control` (section 5.2) that this cache knows, of an answer or of a request.
///
/// DESIGN: Read from bytes in one pass, whatever a server sends. A line is read by itself, so that a quote which is never
/// closed hides nothing of the next; and such a quote is taken for an ordinary byte, so that it hides nothing of its own
/// line either. White space around the `=` is put up with. An argument that should be a number and is not means the most
/// careful number, and of several the most careful counts (section 4.2.1). The qualified forms `private="…"` and
/// `no-cache="…"` are read as if they named no field, as sections 5.2.2.4 and 5.2.2.7 expect of most caches.
struct CacheDirectives {
    enum Name: String {
        case immutable
        case maxAge = "max-age"
        case maxStale = "max-stale"
        case minFresh = "min-fresh"
        case mustRevalidate = "must-revalidate"
        case mustUnderstand = "must-understand"
        case noCache = "no-cache"
        case noStore = "no-store"
        case onlyIfCached = "only-if-cached"
        case `private`
        case proxyRevalidate = "proxy-revalidate"
        case `public`
        case sMaxAge = "s-maxage"
        case staleIfError = "stale-if-error"
    }

    /// Of each directive that is there, the argument of each time.
    private var arguments: [Name: [String?]] = [:]

    /// `Pragma: no-cache` counts where there is no `Cache-Control` (section 5.4). The section speaks of requests; in an
    /// answer it costs a validation to believe it, and its author meant it.
    init(of fields: HTTPFields) {
        self.init(lines: fields.values(of: "Cache-Control"))
        if fields["Cache-Control"] == nil, CacheDirectives(lines: fields.values(of: "Pragma")).contains(.noCache) {
            arguments[.noCache] = [nil]
        }
    }

    private init(lines: [String]) {
        for line in lines { read(line) }
    }

    /// With or without an argument: right for what makes a cache more careful.
    func contains(_ name: Name) -> Bool { arguments[name] != nil }

    /// At least once as it is defined, without an argument: right for what lets a cache do more.
    func permits(_ name: Name) -> Bool { arguments[name]?.contains(nil) ?? false }

    /// For the directives whose smaller number asks for more care; zero where one is no number, nil without the directive.
    func least(_ name: Name) -> Duration? {
        arguments[name]?.map { Int(deltaSeconds: $0 ?? "") ?? 0 }.min().map { .seconds($0) }
    }

    /// `min-fresh`: the greater number asks for more. No number is more than anything has.
    var minFresh: Duration? {
        arguments[.minFresh]?.map { Int(deltaSeconds: $0 ?? "") ?? Int.mostDeltaSeconds }.max().map { .seconds($0) }
    }

    /// `max-stale`, which without an argument puts up with any staleness (section 5.2.1.2).
    var maxStale: Duration? {
        let seconds = arguments[.maxStale]?.map { argument in
            argument.map { Int(deltaSeconds: $0) ?? 0 } ?? Int.mostDeltaSeconds
        }
        return seconds?.min().map { .seconds($0) }
    }

    private mutating func read(_ line: String) {
        var rest = Substring(line).utf8
        while !rest.isEmpty {
            let name = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
            rest = rest[name.endIndex...]
            var argument: String?
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst().drop(while: \.isWhitespace)
                let quoted = Self.quotedString(rest)
                rest = quoted?.rest ?? rest
                let plain = rest.prefix { $0 != UInt8(ascii: ",") }
                rest = rest[plain.endIndex...]
                argument = (quoted?.text ?? "") + String(decoding: plain.trimmed, as: UTF8.self)
            }
            rest = rest.dropFirst()
            if let name = Name(rawValue: String(decoding: name.trimmed, as: UTF8.self).asciiLowercased) {
                arguments[name, default: []].append(argument)
            }
        }
    }

    /// A quoted string at the start of the bytes (RFC 9110, section 5.6.4); nil unless one begins and ends there.
    ///
    /// It fails at most once a line, for a second `="` would have ended the first, so a line costs one pass.
    private static func quotedString(_ bytes: Substring.UTF8View) -> (text: String, rest: Substring.UTF8View)? {
        guard bytes.first == UInt8(ascii: "\"") else { return nil }
        var text: [UInt8] = []
        var isEscaped = false
        var index = bytes.index(after: bytes.startIndex)
        while index < bytes.endIndex {
            let byte = bytes[index]
            index = bytes.index(after: index)
            switch byte {
            case _ where isEscaped:
                isEscaped = false
                text.append(byte)
            case UInt8(ascii: "\\"):
                isEscaped = true
            case UInt8(ascii: "\""):
                return (String(decoding: text, as: UTF8.self), bytes[index...])
            default:
                text.append(byte)
            }
        }
        return nil
    }
}
