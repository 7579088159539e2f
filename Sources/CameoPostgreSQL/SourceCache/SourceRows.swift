/// Conditions for the rows of a source, by the indexes `source_key` and `source_failure_key`: those have digests in place
/// of texts that may be too long for an index. The parameters are `$1` the URI, `$2` the scope, and `$3` the variant.
enum SourceRows {
    private static let uri = "sha256(convert_to(uri, 'UTF8'))"
    private static let variant = "sha256(convert_to(variant, 'UTF8'))"

    /// The rows of a URI, for all credentials.
    static let ofURI = "\(uri) = sha256(convert_to($1::text, 'UTF8')) AND uri = $1"
    /// The rows of a URI and scope.
    static let ofKey = "\(ofURI) AND scope = $2"
    /// The one row of a URI, scope and variant.
    static let one = "\(ofKey) AND \(variant) = sha256(convert_to($3::text, 'UTF8')) AND variant = $3"

    /// What an upsert into `source` or `source_failure` conflicts with.
    static let sourceConflict = "\(uri), scope, \(variant)"
    static let failureConflict = "\(uri), scope"
}
