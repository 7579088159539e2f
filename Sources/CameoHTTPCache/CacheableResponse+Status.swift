extension CacheableResponse {
    /// Whether the status allows caching without a word about it (RFC 9110, section 15.1). 206 does too, but is never
    /// kept here.
    var isHeuristicallyCacheable: Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Whether the status is one of RFC 9110's, of which this cache knows that they ask nothing special of it.
    var isUnderstood: Bool {
        switch status {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
        default: false
        }
    }

    /// Whether it is a picture, or the way to one. An operator's default lifetime is meant for these: an error that says
    /// nothing is none that should last for a day.
    var isSuccessOrRedirect: Bool { [200, 203, 204, 300, 301, 302, 303, 307, 308].contains(status) }
}
