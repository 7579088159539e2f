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
    let answer: CachedSource
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
