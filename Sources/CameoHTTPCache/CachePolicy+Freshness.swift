package import Foundation

extension CachePolicy {
    /// How long after its origin made it the answer is fresh (section 4.2.1), between zero and 2³¹ seconds.
    package func freshnessLifetime(of response: CacheableResponse) -> Duration { .zero }

    /// How long ago the answer's origin made it or vouched for it (section 4.2.3).
    package func currentAge(of response: CacheableResponse, at now: Date) -> Duration { .zero }

    /// The first instant at which the answer is no longer fresh. Not after it came where it must be validated every time.
    package func freshUntil(_ response: CacheableResponse) -> Date { response.responseTime }
}
