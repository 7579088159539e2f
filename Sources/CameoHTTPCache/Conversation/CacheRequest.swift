package import CameoModel

/// A request to a cache and, if necessary, to the server behind it.
package struct CacheRequest<Place: HTTPPlace>: Sendable {
    package let key: SourceKey
    package let policy: CachePolicy
    package let use: CacheUse
    package let method: String
    package let target: Place
    /// The request's own fields.
    package let fields: HTTPFields
    package let maximumRedirects: Int
    /// The fields that are sent to a stop of the route: the request's own and those that are added there.
    package let sent: @Sendable (Route<Place>.Stop) -> SentFields

    package init(
        _ method: String = "GET",
        key: SourceKey,
        policy: CachePolicy,
        use: CacheUse,
        target: Place,
        fields: HTTPFields,
        maximumRedirects: Int,
        sent: @escaping @Sendable (Route<Place>.Stop) -> SentFields
    ) {
        self.method = method
        self.key = key
        self.policy = policy
        self.use = use
        self.target = target
        self.fields = fields
        self.maximumRedirects = maximumRedirects
        self.sent = sent
    }

    /// Whether request and response are passed on unchanged and the response is not stored: it may be a part of a
    /// representation, or depend on a condition that only the server can evaluate.
    package var isPassedOn: Bool {
        use == .bypass || method != "GET"
            || ["Range", "If-Match", "If-Unmodified-Since"].contains { fields[$0] != nil }
    }

    /// Whether the method may change something on the server (RFC 9110, section 9.2.1).
    package var isUnsafe: Bool { !HTTPMethod.isSafe(method) }

    /// The route, which begins at the target. The requester's own validators are not sent: they are evaluated against the
    /// whole response.
    var route: Route<Place> {
        Route(method, to: target, isPassedOn ? fields : fields.withoutValidators, maximumRedirects: maximumRedirects)
    }

    /// All fields that are sent along the route: those on which any of its responses varies, and credentials that went to
    /// any of its stops.
    func sent(along route: Route<Place>) -> SentFields {
        let sent = route.stops.map(self.sent)
        var seen: Set<HTTPFields.Line> = []
        return SentFields(
            HTTPFields(sent.flatMap(\.fields.lines).filter { seen.insert($0).inserted }),
            isOpenedByOperator: sent.contains(where: \.isOpenedByOperator)
        )
    }
}

/// Which stored responses may be served.
package enum CacheUse: Hashable, Sendable {
    /// Fresh ones, and stale ones if the server cannot be asked and nothing forbids it.
    case fresh
    /// None without validation.
    case validated
    /// None: the server is asked unconditionally, and its response is stored.
    case reload
    /// Any, however old.
    case anyAge
    /// Any, however old; the server is never asked.
    case only
    /// None, and nothing is stored: there is no cache.
    case bypass
}

/// Request fields as a cache compares them with those of other requests.
package struct SentFields: Sendable {
    package let fields: HTTPFields
    /// Whether the operator added a field that may be a credential. It is not part of any request's scope, so the response
    /// would be served to requests without it.
    package let isOpenedByOperator: Bool

    package init(_ fields: HTTPFields, isOpenedByOperator: Bool = false) {
        self.fields = fields
        self.isOpenedByOperator = isOpenedByOperator
    }
}

package enum HTTPMethod {
    /// Whether the method only retrieves (RFC 9110, section 9.2.1). Unknown methods count as unsafe.
    package static func isSafe(_ method: String) -> Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }
}

extension HTTPFields {
    fileprivate var withoutValidators: HTTPFields {
        let names: Set = ["if-none-match", "if-modified-since", "if-range"]
        return HTTPFields(lines.filter { !names.contains($0.name.asciiLowercased) })
    }
}
