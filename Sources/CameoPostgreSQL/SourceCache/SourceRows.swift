/// Conditions for the rows of a source, by the indexes `source_key` and `source_failure_key`: those have digests in place
/// of texts that may be too long for an index. The parameters are `$1` the URI, `$2` the scope, and `$3` the variant.
enum SourceRows {
    private static let uri = "text_digest(uri)"
    private static let variant = "text_digest(variant)"

    /// The rows of a URI, for all credentials.
    static let ofURI = "\(uri) = text_digest($1::text) AND uri = $1"
    /// The rows of a URI and scope.
    static let ofKey = "\(ofURI) AND scope = $2"
    /// The one row of a URI, scope and variant.
    static let one = "\(ofKey) AND \(variant) = text_digest($3::text) AND variant = $3"

    /// What an upsert into `source` or `source_failure` conflicts with.
    static let sourceConflict = "\(uri), scope, \(variant)"
    static let failureConflict = "\(uri), scope"
}
