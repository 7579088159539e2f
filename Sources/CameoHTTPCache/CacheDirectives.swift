/// The `Cache-Control` directives (section 5.2) of a response or a request, as far as this cache implements them.
///
/// DESIGN: whatever a server sends is parsed in one pass over its bytes. Each line is parsed by itself, so that an unclosed
/// quote hides nothing of the next line; it counts as an ordinary byte, so that it hides nothing of its own line either.
/// White space around `=` is accepted. A malformed number means the most careful value, and among several numbers the most
/// careful one counts (section 4.2.1). The qualified forms `private="…"` and `no-cache="…"` are read as the unqualified
/// ones, as sections 5.2.2.4 and 5.2.2.7 expect of most caches.
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
        case staleWhileRevalidate = "stale-while-revalidate"
    }

    /// The arguments of each directive, one for each occurrence.
    private var arguments: [Name: [String?]] = [:]

    /// `Pragma: no-cache` counts if there is no `Cache-Control` (section 5.4). The section is about requests; honouring it in
    /// a response costs one validation, and is what its author meant.
    init(of fields: HTTPFields) {
        self.init(lines: fields.values(of: "Cache-Control"))
        if fields["Cache-Control"] == nil, CacheDirectives(lines: fields.values(of: "Pragma")).contains(.noCache) {
            arguments[.noCache] = [nil]
        }
    }

    private init(lines: [String]) {
        for line in lines { read(line) }
    }

    /// Whether the directive occurs, with or without an argument: the test for directives that restrict a cache.
    func contains(_ name: Name) -> Bool { arguments[name] != nil }

    /// Whether the directive occurs as defined, without an argument: the test for directives that permit something.
    func permits(_ name: Name) -> Bool { arguments[name]?.contains(nil) ?? false }

    /// The smallest argument of a directive whose smaller values are more careful. A malformed one counts as zero.
    func least(_ name: Name) -> Duration? {
        arguments[name]?.map { Int(deltaSeconds: $0 ?? "") ?? 0 }.min().map { .seconds($0) }
    }

    /// The largest `min-fresh`. A malformed one exceeds every lifetime.
    var minFresh: Duration? {
        arguments[.minFresh]?.map { Int(deltaSeconds: $0 ?? "") ?? Int.mostDeltaSeconds }.max().map { .seconds($0) }
    }

    /// The smallest `max-stale`. Without an argument it accepts any staleness (section 5.2.1.2).
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
    /// Parsing fails at most once a line, since a second `="` would have closed the first quote, so a line costs one pass.
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
