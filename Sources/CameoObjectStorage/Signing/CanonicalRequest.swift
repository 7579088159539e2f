internal import CameoModel
internal import Foundation

/// A request in the form that is signed.
struct CanonicalRequest {
    var method: HTTPRequest.Method
    /// Percent-encoded, from the slash on.
    var path: String
    /// Names and values, not encoded, in any order.
    var query: [(name: String, value: String)] = []
    /// The headers to sign, in any order; their names are unique and in lower case.
    var headers: [(name: String, value: String)]
    /// The SHA-256 of the body in hexadecimal digits, or `UNSIGNED-PAYLOAD`.
    var payload: String

    /// The query as it stands in the URL: sorted, with all that is reserved encoded, and a `=` even without a value.
    var queryText: String {
        query.map { "\(PercentEncoding.encoded($0.name))=\(PercentEncoding.encoded($0.value))" }.sorted().joined(
            separator: "&"
        )
    }

    /// The names of the signed headers.
    var signedHeaders: String { headers.map(\.name).sorted().joined(separator: ";") }

    private var text: String {
        let lines = headers.sorted { $0.name < $1.name }.map { "\($0.name):\($0.value)\n" }.joined()
        return [method.rawValue, path, queryText, lines, signedHeaders, payload].joined(separator: "\n")
    }

    var digest: BlobDigest { SHA256.digest(of: Data(text.utf8)) }
}
