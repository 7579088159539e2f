internal import CameoFetch
internal import CameoHTTPCache
internal import CameoStore

// What the fetcher calls an answer is a row of the store, which knows nothing of HTTP.
extension CachedAnswer {
    /// Nil for a row whose variant is written in a way that this version does not read.
    init?(_ source: CachedSource) {
        guard let variant = Variant(text: source.variant) else { return nil }
        self.init(
            key: source.key,
            variant: variant,
            finalURL: source.finalURL,
            head: CacheableResponse(
                status: source.status,
                fields: HTTPFields(source.fields),
                requestTime: source.requestTime,
                responseTime: source.responseTime
            ),
            redirects: source.hops.map { hop in
                CacheableResponse(
                    status: hop.status,
                    fields: HTTPFields(hop.fields),
                    requestTime: hop.requestTime,
                    responseTime: hop.responseTime
                )
            },
            mediaType: source.mediaType,
            textEncoding: source.textEncoding,
            freshUntil: source.freshUntil,
            digest: source.blob,
            bytes: source.bytes,
            number: source.sourceSeen,
            peers: source.peers,
            isPinned: source.isPinned
        )
    }
}

extension CachedSource {
    init(_ answer: CachedAnswer) {
        self.init(
            key: answer.key,
            variant: answer.variant.text,
            finalURL: answer.finalURL,
            status: answer.head.status,
            fields: answer.head.fields.stored,
            hops: answer.redirects.map { hop in
                Hop(
                    status: hop.status,
                    fields: hop.fields.stored,
                    requestTime: hop.requestTime,
                    responseTime: hop.responseTime
                )
            },
            mediaType: answer.mediaType,
            textEncoding: answer.textEncoding,
            requestTime: answer.head.requestTime,
            responseTime: answer.head.responseTime,
            freshUntil: answer.freshUntil,
            blob: answer.digest,
            bytes: answer.bytes,
            sourceSeen: answer.number,
            peers: answer.peers,
            isPinned: answer.isPinned
        )
    }
}

extension HTTPFields {
    init(_ fields: [CachedSource.Field]) {
        self.init(fields.map { Line(name: $0.name, value: $0.value) })
    }

    var stored: [CachedSource.Field] { lines.map { CachedSource.Field(name: $0.name, value: $0.value) } }
}
