internal import CameoHTTPCache
internal import CameoStore
internal import Foundation

/// An answer out of the store, with its bytes: what cannot be served is no answer.
struct KeptAnswer: Sendable {
    let source: CachedSource
    let data: Data
    /// What went wrong beside.
    let detail: String?

    /// The redirects that led to it, and it itself: it can do no more than each of them.
    var chain: [CacheableResponse] { source.hops.map(CacheableResponse.init) + [head] }

    var head: CacheableResponse {
        CacheableResponse(
            status: source.status,
            fields: HTTPFields(source.fields.map { HTTPFields.Line(name: $0.name, value: $0.value) }),
            requestTime: source.requestTime,
            responseTime: source.responseTime
        )
    }
}

extension CacheableResponse {
    fileprivate init(_ hop: CachedSource.Hop) {
        self.init(
            status: hop.status,
            fields: HTTPFields(hop.fields.map { HTTPFields.Line(name: $0.name, value: $0.value) }),
            requestTime: hop.requestTime,
            responseTime: hop.responseTime
        )
    }

    /// As it is kept: without what was for its connection, without cookies, which are for one client, and without what
    /// describes the bytes as they were encoded on the way.
    var kept: CacheableResponse {
        var fields = self.fields.storable
        for name in ["Set-Cookie", "Content-Encoding", "Content-Length"] { fields.set(name, nil) }
        return CacheableResponse(status: status, fields: fields, requestTime: requestTime, responseTime: responseTime)
    }

    var hop: CachedSource.Hop {
        CachedSource.Hop(
            status: status,
            fields: kept.storedFields,
            requestTime: requestTime,
            responseTime: responseTime
        )
    }

    var storedFields: [CachedSource.Field] {
        fields.lines.map { CachedSource.Field(name: $0.name, value: $0.value) }
    }
}
