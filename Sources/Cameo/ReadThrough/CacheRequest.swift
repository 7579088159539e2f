internal import CameoHTTPCache
internal import CameoStore
internal import Foundation

/// A request as the cache sees it.
struct CacheRequest: Sendable {
    /// With its timeouts and all else that is not for the cache.
    let request: URLRequest
    /// Without user information and fragment, neither of which is sent.
    let url: URL
    /// All that goes to the server named by `url`.
    let fields: HTTPFields
    let key: SourceKey
    var isHead: Bool { request.httpMethod == "HEAD" }
    let cachePolicy: URLRequest.CachePolicy

    /// - Throws: `URLError` for what cannot be sent.
    init(_ request: URLRequest, _ settings: TransferSettings) throws(URLError) {
        guard let url = request.url, let target = Target(url) else { throw URLError(.badURL) }
        var fields = HTTPFields(request.allHTTPHeaderFields ?? [:])
        for line in settings.headers where fields[line.name] == nil { fields.append(line.name, line.value) }
        if let authorization = target.authorization, fields["Authorization"] == nil {
            fields.set("Authorization", authorization)
        }
        // libcurl would write a line break as it is, and whoever filled the value another header.
        guard fields.lines.allSatisfy(\.isSendable) else { throw URLError(.badURL) }
        self.request = request
        cachePolicy = request.cachePolicy == .useProtocolCachePolicy ? settings.cachePolicy : request.cachePolicy
        self.url = target.url
        self.fields = fields
        let credentials = fields.lines.filter { !$0.isHarmless }
        let pairs = credentials.map { ($0.name.lowercased(), $0.value) }
        key = SourceKey(
            uri: target.name,
            scope: RequestScope(headers: Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
        )
    }

    /// What answers may vary by. Bodies are kept decoded, so that whoever names no coding understands any answer; the
    /// workers write that as here, and so find what a program has kept.
    var selecting: HTTPFields {
        var fields = fields
        if fields["Accept-Encoding"] == nil { fields.set("Accept-Encoding", "*") }
        return fields
    }

    /// What goes to one place on the way, with ``fields`` or what is left of them.
    func request(to url: URL, sending fields: HTTPFields) -> URLRequest {
        var request = request
        request.url = url
        request.allHTTPHeaderFields = [:]
        request.cachePolicy = .reloadIgnoringLocalCacheData
        for line in fields.lines { request.setValue(line.value, forHTTPHeaderField: line.name) }
        return request
    }

    /// Whether the answer can be a whole body, without a condition that only the server can judge.
    var isForTheWhole: Bool {
        !isHead && ["Range", "If-Match", "If-Unmodified-Since"].allSatisfy { fields[$0] == nil }
    }

    /// A URL taken apart: what is asked for, and who asks.
    private struct Target {
        /// As requested, but for user information and fragment: so workers call it, whose sources have neither.
        let name: String
        let url: URL
        let authorization: String?

        /// Nil for what is no HTTP URL with a host.
        init?(_ url: URL) {
            guard var parts = URLComponents(url: url.absoluteURL, resolvingAgainstBaseURL: true),
                let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
                let host = parts.encodedHost, !host.isEmpty
            else { return nil }
            if let user = parts.user {
                let pair = Data("\(user):\(parts.password ?? "")".utf8)
                authorization = "Basic \(pair.base64EncodedString())"
            } else {
                authorization = nil
            }
            parts.user = nil
            parts.password = nil
            parts.fragment = nil
            guard let name = parts.string else { return nil }
            self.name = name
            // Foundation's own protocol for HTTP knows a scheme in lower case only.
            parts.scheme = scheme
            guard let bare = parts.url else { return nil }
            self.url = bare
        }
    }
}

extension HTTPFields {
    /// With these conditions instead of the requester's own, which are held against the whole answer here.
    func conditional(on validators: HTTPFields) -> HTTPFields {
        let own: Set = ["if-none-match", "if-modified-since", "if-range"]
        return HTTPFields(lines.filter { !own.contains($0.name.lowercased()) } + validators.lines)
    }
}

extension HTTPFields.Line {
    /// Whether it is one line, whoever wrote it.
    fileprivate var isSendable: Bool { (name + value).utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) } }
}
