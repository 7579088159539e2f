import CameoModel
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RequestScopeTests {
    @Test func noHeadersNoScope() { #expect(RequestScope(headers: [:]) == nil) }

    @Test func scopeIsTheDigestOfTheCanonicalHeaders() throws {
        let scope = try #require(RequestScope(headers: ["B-Name": "2", "a-name": "1"]))
        let digest = BlobDigest(of: Array(#"{"a-name":"1","b-name":"2"}"#.utf8))
        #expect(scope.text == digest.hex.prefix(32))
    }

    @Test func namesHaveNoCaseButValuesDo() {
        let scope = RequestScope(headers: ["Authorization": "Bearer x"])
        #expect(RequestScope(headers: ["AUTHORIZATION": "Bearer x"]) == scope)
        #expect(RequestScope(headers: ["Authorization": "bearer x"]) != scope)
        #expect(RequestScope(headers: ["Authorization": "Bearer x "]) != scope)
        #expect(RequestScope(headers: ["Authorization": "Bearer x", "X-Tenant": ""]) != scope)
    }

    @Test func headersThatOnlyLookAlikeWhenJoinedDiffer() {
        #expect(RequestScope(headers: ["a": "b\",\"c\":\"d"]) != RequestScope(headers: ["a": "b", "c": "d"]))
    }

    @Test func tenantsHaveDifferentThumbnails() throws {
        var request = ThumbnailRequest(source: "https://pictures.example/cat.jpg", renditions: [Rendition(width: 64)])
        let open = try request.thumbnailIDs()
        request.headers = ["Cookie": "tenant=1"]
        let first = try request.thumbnailIDs()
        request.headers = ["Cookie": "tenant=2"]
        let second = try request.thumbnailIDs()
        #expect(Set(open + first + second).count == 3)
    }
}
