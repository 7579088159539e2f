internal import CameoHTTPCache
internal import CameoModel
internal import Foundation

/// Who asks the cache.
struct CacheVisitor: Sendable {
    let request: SourceRequest
    let ticket: FetchTicket
    let key: SourceKey
    let policy: CachePolicy
    /// What goes to the target itself.
    let fields: HTTPFields
}

/// A kept answer that is for a request, and what that request sends along the answer's redirects.
struct CandidateAnswer: Sendable {
    let answer: CachedAnswer
    let sent: HTTPFields
}

extension HTTPFields {
    /// All that was sent on the way: what any of its answers varies by is in it, and so is a credential that went to
    /// any of its places.
    init(sentTo stops: [HTTPStop]) {
        var seen: Set<Line> = []
        self.init(stops.flatMap(\.sent.lines).filter { seen.insert($0).inserted })
    }
}

extension CacheableResponse {
    /// As it is kept: without what was for its connection, without cookies, which are for one client, and without what
    /// describes the bytes as they were encoded on the way, for they are kept decoded.
    var kept: CacheableResponse {
        var fields = self.fields.storable
        fields.set("Set-Cookie", nil)
        if fields["Content-Encoding"] != nil {
            fields.set("Content-Encoding", nil)
            fields.set("Content-Length", nil)
        }
        return CacheableResponse(status: status, fields: fields, requestTime: requestTime, responseTime: responseTime)
    }
}

extension RequestScope {
    /// The scope of all credentials of a request: its headers, and the user name and password of its URL, which count as
    /// the header that they become.
    package init?(of uri: String, headers: [String: String]) {
        var all = headers
        if let credentials = (try? HTTPURL(parsing: uri))?.credentials {
            // Beside the headers, under a name that none can have: what differs in any of them is another scope.
            all["user information"] = credentials.basic
        }
        self.init(headers: all)
    }
}
