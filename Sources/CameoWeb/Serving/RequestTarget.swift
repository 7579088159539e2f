internal import CameoModel
internal import Foundation
internal import HTTPTypes

/// What a request line asks for: segments of a path as they were sent, and a query.
struct RequestTarget: Sendable {
    /// Bytes of a path and query; longer ones are refused.
    static let maximumBytes = 65_536

    /// Behind the base path, without its first slash: still percent-encoded.
    let path: Substring
    let query: QueryItems

    /// The text is as in the request line: a path, or a proxy's whole URL.
    ///
    /// - Throws: for a path that does not begin with the base path, and a query that is malformed.
    init(_ text: String, basePath: String) throws(Problem) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw Problem(.uriTooLong, "the path and query have over \(Self.maximumBytes) bytes")
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
        query = try QueryItems(parts.count == 2 ? parts[1] : "")
    }

    /// The first segment, and what follows its slash; nil where there is none.
    var firstSegment: (name: Substring, rest: Substring?) { Self.split(path) }

    /// A text up to its first slash, and what follows that.
    static func split(_ text: Substring) -> (name: Substring, rest: Substring?) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts[0], parts.count == 2 ? parts[1] : nil)
    }

    /// Decoded once: no byte of it becomes a path of anything.
    static func decoded(_ text: Substring) throws(Problem) -> String {
        guard let bytes = PercentEncoding.decoded(text.utf8), let decoded = String(validating: bytes, as: UTF8.self),
            !decoded.unicodeScalars.contains("\0")
        else { throw Problem(.badRequest, "a percent-escape is malformed, or what it stands for is no text") }
        return decoded
    }
}

/// The items of a query, each name at most once unless it is one that is asked for as a list.
struct QueryItems: Sendable {
    private let items: [(name: String, value: String)]

    init(_ text: Substring) throws(Problem) {
        var items: [(String, String)] = []
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? parts[1] : ""
            items.append((try Self.decoded(parts[0]), try Self.decoded(value)))
        }
        self.items = items
    }

    private static func decoded(_ text: Substring) throws(Problem) -> String {
        try RequestTarget.decoded(text.replacing("+", with: "%20")[...])
    }

    /// Refuses every name that means nothing here: a misspelt one would be ignored in silence.
    func allow(_ names: String...) throws(Problem) {
        for (index, item) in items.enumerated() {
            guard names.contains(item.name) else {
                let known = names.isEmpty ? "it takes none" : "there are \(names.joined(separator: ", "))"
                throw Problem(.badRequest, "there is no query item \"\(item.name)\" here: \(known)")
            }
            guard !items[..<index].contains(where: { $0.name == item.name }) else {
                throw Problem(.badRequest, "the query item \"\(item.name)\" stands there twice")
            }
        }
    }

    subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// Words with commas between them; empty where there are none.
    func list(_ name: String) -> [String] { self[name].map { $0.split(separator: ",").map(String.init) } ?? [] }

    func integer(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw Problem(
                .badRequest,
                "\(name)=\(text): must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    /// `wait=2s`, `wait=500ms`, or seconds.
    func wait() throws(Problem) -> Duration {
        guard let text = self["wait"] else { return .zero }
        let isMilliseconds = text.hasSuffix("ms")
        let number = text.dropLast(isMilliseconds ? 2 : text.hasSuffix("s") ? 1 : 0)
        guard let amount = Double(number), number.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            Site.waitRange.contains(isMilliseconds ? amount / 1_000 : amount)
        else {
            throw Problem(.badRequest, "wait=\(text): must be a time from 0 to 30s, as 2s or 500ms")
        }
        return isMilliseconds ? .milliseconds(Int64(amount)) : .milliseconds(Int64(amount * 1_000))
    }
}
