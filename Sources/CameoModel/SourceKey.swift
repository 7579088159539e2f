/// Under what a cached original is kept.
package struct SourceKey: Hashable, Sendable {
    /// Exactly as it was requested, before any rewriting.
    package let uri: String
    /// Of the credentials that it was fetched with; nil without any.
    package let scope: RequestScope?

    package init(uri: String, scope: RequestScope?) {
        self.uri = uri
        self.scope = scope
    }
}
