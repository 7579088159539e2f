/// The key of a cached original.
package struct SourceKey: Hashable, Sendable {
    /// The URI exactly as requested, before any rewriting.
    package let uri: String
    /// The scope of the credentials used for the fetch; nil if there were none.
    package let scope: RequestScope?

    package init(uri: String, scope: RequestScope?) {
        self.uri = uri
        self.scope = scope
    }
}
