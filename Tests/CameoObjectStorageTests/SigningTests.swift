import CameoModel
import CameoSystem
import Foundation
import Testing

@testable import CameoObjectStorage

/// The examples of AWS (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html and
/// sigv4-query-string-auth.html), whose key and secret are published ones that open nothing.
struct SigningTests {
    private static let credentials = Credentials(
        keyID: "AKIAIOSFODNN7EXAMPLE",
        secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    )
    /// 24 May 2013, midnight.
    private static let date = Date(timeIntervalSince1970: 1_369_353_600)
    private static let host = (name: "host", value: "examplebucket.s3.amazonaws.com")

    struct Example: Sendable, CustomTestStringConvertible {
        let method: HTTPRequest.Method
        let path: String
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var body = ""
        let signature: String

        var testDescription: String { "\(method.rawValue) \(path)" }
    }

    private static let examples = [
        Example(
            method: .get,
            path: "/test.txt",
            headers: [("range", "bytes=0-9")],
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        Example(
            method: .put,
            path: "/test%24file.text",
            headers: [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
            body: "Welcome to Amazon S3.",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        ),
        Example(
            method: .get,
            path: "/",
            query: [("lifecycle", "")],
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        ),
        Example(
            method: .get,
            path: "/",
            query: [("prefix", "J"), ("max-keys", "2")],
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        ),
    ]

    @Test(arguments: examples)
    func requestsAreSignedAsInTheDocumentation(example: Example) throws {
        let request = CanonicalRequest(
            method: example.method,
            path: example.path,
            query: example.query,
            headers: [Self.host] + example.headers,
            payload: BlobDigest(of: Data(example.body.utf8)).hex
        )
        let headers = RequestSigner(region: "us-east-1").headers(
            signing: request,
            with: Self.credentials,
            at: Self.date
        )
        let authorization = try #require(headers.first { $0.name == "authorization" }?.value)
        #expect(
            authorization.hasPrefix(
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            )
        )
        #expect(authorization.hasSuffix(", Signature=\(example.signature)"))
        #expect(headers.contains { $0 == ("x-amz-date", "20130524T000000Z") })
    }

    @Test func urlsAreSignedAsInTheDocumentation() {
        let request = CanonicalRequest(
            method: .get,
            path: "/test.txt",
            headers: [Self.host],
            payload: RequestSigner.unsignedPayload
        )
        let query = RequestSigner(region: "us-east-1")
            .query(presigning: request, with: Self.credentials, at: Self.date, validFor: 86_400)
        #expect(
            query == """
                X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2F\
                aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=\
                aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404
                """
        )
    }

    @Test func aSessionTokenIsSignedInHeadersAndInURLs() {
        var credentials = Self.credentials
        credentials.sessionToken = "a/token+="
        let request = CanonicalRequest(
            method: .get,
            path: "/",
            headers: [Self.host],
            payload: RequestSigner.unsignedPayload
        )
        let signer = RequestSigner(region: "us-east-1")
        let headers = signer.headers(signing: request, with: credentials, at: Self.date)
        #expect(headers.contains { $0 == ("x-amz-security-token", "a/token+=") })
        #expect(
            headers.last?.value.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,")
                == true
        )
        let query = signer.query(presigning: request, with: credentials, at: Self.date, validFor: 60)
        #expect(query.contains("&X-Amz-Security-Token=a%2Ftoken%2B%3D&"))
    }

    @Test func aQueryIsSortedByItsEncodedNames() {
        let query = [("b", "2"), ("a", "ä &"), ("uploads", ""), ("B", "1"), ("a", "1")]
        let request = CanonicalRequest(method: .get, path: "/", query: query, headers: [], payload: "")
        #expect(request.queryText == "B=1&a=%C3%A4%20%26&a=1&b=2&uploads=")
    }

    @Test func secretsDoNotShowInText() {
        var credentials = Self.credentials
        credentials.sessionToken = "token"
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in [
            "\(credentials)", String(reflecting: credentials), dumped, "\([credentials])",
            "\(Optional(credentials) as Any)",
        ] {
            #expect(!text.contains("wJalr") && !text.contains("token"))
        }
    }
}
