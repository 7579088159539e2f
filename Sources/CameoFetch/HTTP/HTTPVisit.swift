internal import CameoHTTPCache
internal import CameoModel

/// How a fetch over HTTP ended, and what was said on the way.
struct HTTPVisit: Sendable {
    /// What the last answer came to.
    enum Outcome: Sendable {
        case body(Download.Body)
        case notModified
        case failure(JobFailure)
    }

    let outcome: Outcome
    /// Of the last answer.
    let head: CacheableResponse
    /// The answers that led there.
    let redirects: [CacheableResponse]
    let finalURL: String
    let mediaType: String?
    let textEncoding: String?
}

/// What asks a server whether bytes are still the right ones.
struct Validation: Sendable {
    /// Where they came from.
    let url: String
    /// `If-None-Match`, `If-Modified-Since`.
    let fields: HTTPFields
}
