extension CacheableResponse {
    /// Whether the status allows storing without explicit permission (RFC 9110, section 15.1). 206 does too, but parts are
    /// never stored here.
    var isHeuristicallyCacheable: Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Whether this cache implements what the status requires of caches (`must-understand`): those of RFC 9110 require
    /// nothing special.
    var isUnderstood: Bool {
        switch status {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
        default: false
        }
    }

    /// Whether the response is a picture or a redirect to one. An operator's default lifetime applies to these alone: an
    /// error without caching information should not last for a day.
    var isSuccessOrRedirect: Bool { [200, 203, 204, 300, 301, 302, 303, 307, 308].contains(status) }

    /// Whether stored responses are dropped after this one, although it is not stored itself. RFC 9111 leaves that to the
    /// cache (section 4.3.3).
    ///
    /// They are dropped if the origin sent another representation, or said that the picture is gone or no longer for this
    /// requester; otherwise it would come back when the server is unreachable. Any other status concerns the request,
    /// the moment or the connection (400, 407, 408, 425, 429, 5xx) and says nothing about the picture. A 206 is a part of
    /// the stored whole.
    var supersedesStored: Bool {
        switch status {
        case 206: false
        case 200...299, 401, 402, 403, 404, 410, 451: true
        default: false
        }
    }
}
