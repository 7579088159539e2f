internal import CameoModel
internal import Foundation
internal import Glibc
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The target of a request line: a path, still percent-encoded, and a query.
struct RequestTarget: Sendable {
    /// The most bytes in a path and query.
    static let maximumBytes = 65_536

    /// The path after the base path, without its leading slash and still percent-encoded.
    let path: Substring
    let query: QueryItems

    /// Parses the text of the request line: a path, or a whole URL as sent to proxies.
    ///
    /// - Throws: ``Problem`` if the text is too long, or the path lacks the base path.
    init(_ text: String, basePath: String) throws(Problem) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw Problem(.uriTooLong, "the path and query have more than \(Self.maximumBytes) bytes")
        }
        var rest = text[...]
        if !rest.hasPrefix("/"), let scheme = rest.range(of: "://") {
            rest = rest[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
        }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0]
        guard path.hasPrefix(basePath), path.dropFirst(basePath.count).first == "/" else {
            throw Problem(.notFound, "there is nothing at this path")
        }
        self.path = path.dropFirst(basePath.count + 1)
        query = QueryItems(parts.count == 2 ? parts[1] : "")
    }

    /// The first segment, and the rest after its slash; nil if there is no slash.
    var firstSegment: (name: Substring, rest: Substring?) { Self.split(path) }

    /// Splits a text at its first slash; the rest is nil if there is none.
    static func split(_ text: Substring) -> (name: Substring, rest: Substring?) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts[0], parts.count == 2 ? parts[1] : nil)
    }

    /// Percent-decodes a text once. The result is never used as a file path.
    static func decoded(_ text: Substring) throws(Problem) -> String {
        guard let bytes = PercentEncoding.decoded(text.utf8), let decoded = String(validating: bytes, as: UTF8.self),
            !decoded.unicodeScalars.contains("\0")
        else { throw Problem(.badRequest, "a percent-escape is malformed or does not decode to UTF-8 text") }
        return decoded
    }
}

struct QueryItems: Sendable, CustomStringConvertible {
    /// A value is nil if it, or the name, is malformed.
    private let items: [(name: String, value: String?)]

    init(_ text: Substring) {
        items = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]) else { return (String(parts[0]), nil) }
            return (name, Self.decoded(parts.count == 2 ? parts[1] : ""))
        }
    }

    private static func decoded(_ text: Substring) -> String? {
        try? RequestTarget.decoded(text.replacing("+", with: "%20")[...])
    }

    /// Rejects repeated, malformed and unknown names: a misspelt one would otherwise be ignored silently.
    func allow(_ names: [String] = []) throws(Problem) {
        if let name = try unknown(besides: names).first {
            let known = names.isEmpty ? "this path accepts none" : "the items are \(names.joined(separator: ", "))"
            throw Problem(.badRequest, "unknown query item \"\(name)\": \(known)")
        }
    }

    /// The names of items that are ignored; rejects repeated and malformed ones among those with these names.
    func unknown(besides names: [String]) throws(Problem) -> [String] {
        for (index, item) in items.enumerated() where names.contains(item.name) {
            guard item.value != nil else {
                throw Problem(.badRequest, "\(item.name): is not percent-encoded UTF-8 text")
            }
            guard !items[..<index].contains(where: { $0.name == item.name }) else {
                throw Problem(.badRequest, "the query item \"\(item.name)\" occurs twice")
            }
        }
        return items.map(\.name).filter { !names.contains($0) }
    }

    /// The decoded items, for a log.
    var description: String { items.map { "\($0.name)=\($0.value ?? "")" }.joined(separator: " ") }

    subscript(name: String) -> String? { items.first { $0.name == name }.flatMap(\.value) }

    /// The comma-separated words of an item, each of which must be a case of a type; empty if the item is absent.
    func words<Word: RawRepresentable<String> & CaseIterable>(_ name: String, _ type: Word.Type) throws(Problem)
        -> [Word]
    {
        try (self[name] ?? "").split(separator: ",").map { text throws(Problem) in
            if let word = Word(rawValue: String(text)) { return word }
            throw Problem(.badRequest, "\(name)=\(text): must be a comma-separated list of \(Word.allWords)")
        }
    }

    /// A time, RFC 3339.
    func time(_ name: String) throws(Problem) -> Date? {
        guard let text = self[name] else { return nil }
        // The + of an offset is a space in a query, unless it is percent-encoded.
        guard let time = WireFormat.date(from: text.replacing(" ", with: "+")) else {
            throw Problem(.badRequest, "\(name)=\(text): must be a time such as 2030-01-31T12:00:00Z (RFC 3339)")
        }
        return time
    }

    func integer(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            let reason = "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw Problem(.badRequest, "\(name)=\(text): \(reason)")
        }
        return number
    }

    /// The duration in `wait`: `2s`, `500ms`, or a number of seconds; zero if it is absent.
    func wait() throws(Problem) -> Duration {
        guard let text = self["wait"] else { return .zero }
        let isMilliseconds = text.hasSuffix("ms")
        let number = text.dropLast(isMilliseconds ? 2 : text.hasSuffix("s") ? 1 : 0)
        guard let amount = Double(number), number.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            Site.waitRange.contains(isMilliseconds ? amount / 1_000 : amount)
        else {
            throw Problem(.badRequest, "wait=\(text): must be a duration from 0 to 30s, such as 2s or 500ms")
        }
        return isMilliseconds ? .milliseconds(Int64(amount)) : .milliseconds(Int64(amount * 1_000))
    }
}

// DESIGN. Where no token is needed, a page of another site could read everything: its name is made to lead to this server
// (DNS rebinding), and its scripts are then of the same origin. The browser tells the name in `Host`. It tells an address
// only if the page came from there, so addresses cannot be rebound. A socket is out of a browser's reach.

package struct HostName: Hashable, Sendable, CustomStringConvertible {
    /// In lower case; an IPv6 address is in brackets.
    private let text: String
    package var description: String { text }
    /// Whether no page of another site can have this name.
    private let isLocalOrAddress: Bool

    /// Parses `Host`: a name or an address, and perhaps a port (RFC 9110, section 7.2). Returns nil for anything else.
    package init?(_ field: some StringProtocol) {
        let bracket = field.hasPrefix("[") ? field.firstIndex(of: "]").map { field.index(after: $0) } : nil
        let end = bracket ?? field.firstIndex(of: ":") ?? field.endIndex
        let (host, port) = (field[..<end], field[end...])
        let marks: Set = bracket == nil ? Set("-._~%!$&'()*+,;=") : Set(".:[]")
        guard !host.isEmpty,
            host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || marks.contains($0) }),
            port.isEmpty || port.first == ":" && port.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        let text = host.lowercased()
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        var address = in6_addr()
        isLocalOrAddress =
            name == "localhost" || name.hasSuffix(".localhost")
            || inet_pton(AF_INET, text, &address) == 1
            || text.hasPrefix("[") && inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1
        self.text = text
    }

    /// Requires that a request names this server.
    ///
    /// - Throws: ``Problem`` with status 400 or 421.
    static func check(_ request: Request, on channel: any Channel, _ configuration: WebConfiguration) throws(Problem) {
        // The first one is the authority, and any other is left among the fields.
        let others = request.headers.contains { $0.name.canonicalName == "host" }
        guard let authority = request.head.authority, !others else {
            throw Problem(.badRequest, "there must be one Host field")
        }
        guard let host = HostName(authority) else { throw Problem(.badRequest, "Host: must be a name or an address") }
        guard host.isServed(on: channel, configuration) else {
            throw Problem(
                .misdirectedRequest,
                "this server does not answer to the name \(host): it was started without --tokens and --host \(host)"
            )
        }
    }

    /// Whether a server answers to this name: to any if there are tokens, or on a socket.
    func isServed(on channel: any Channel, _ configuration: WebConfiguration) -> Bool {
        isLocalOrAddress || !configuration.tokens.isEmpty || configuration.hosts.contains(self)
            || channel.localAddress?.pathname != nil
    }
}
