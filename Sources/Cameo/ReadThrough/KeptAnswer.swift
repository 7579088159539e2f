internal import CameoHTTPCache
internal import Foundation

/// An answer out of the store, with its bytes: what cannot be served is no answer.
struct KeptAnswer: Sendable {
    let source: CachedSource
    let data: Data
    /// What went wrong beside.
    let detail: String?
}
