import Cameo
import Foundation
import FoundationNetworking
import TestSupport
import Testing

/// What may have changed a picture takes away what is kept of it (RFC 9111, section 4.4).
@Suite(.timeLimit(.minutes(10)), .origin)
struct UnsafeMethodTests {
    private func send(_ method: String, _ path: String, _ body: String?, by reader: Reader) async throws -> Loaded {
        let fields = ["Content-Type": "text/plain"]
        return try await reader.session.get(
            try reader.url(path),
            fields,
            method: method,
            body: body.map { Data($0.utf8) }
        )
    }

    @Test(arguments: ["PUT", "POST", "DELETE", "PATCH"])
    func whatIsChangedIsLoadedAnew(method: String) async throws {
        let (reader, path) = try await Reader.scripted(.fresh("old"), .fresh("done"), .fresh("new"))
        for _ in 0..<2 { #expect(try await reader.get(path).text == "old") }
        let done = try await send(method, path, method == "DELETE" ? nil : "bytes", by: reader)
        #expect(done.text == "done" && done.status == 200 && done.cacheStatus == "Cameo; fwd=method")
        for _ in 0..<2 { #expect(try await reader.get(path).text == "new") }
        let sent = try await reader.origin.requests(of: path)
        try #require(sent.map { $0[":method"] } == [nil, method, nil])
        #expect(sent[1][":body"] == (method == "DELETE" ? "" : "bytes"))
        #expect(sent[1]["content-type"] == "text/plain")
    }

    @Test(arguments: [403, 500])
    func whatFailedChangesNothing(status: Int) async throws {
        let (reader, path) = try await Reader.scripted(.fresh("old"), ScriptedAnswer(status, [], body: "no"))
        _ = try await reader.get(path)
        let failed = try await send("PUT", path, "bytes", by: reader)
        #expect(failed.status == status && failed.text == "no")
        #expect(try await reader.get(path).cacheStatus.hasPrefix("Cameo; hit"))
    }

    @Test func allCredentialsLoadAnew() async throws {
        let (reader, path) = try await Reader.scripted(.fresh())
        for headers in [[:], ["Cookie": "a=1"]] { _ = try await reader.get(path, headers) }
        _ = try await send("POST", path, "bytes", by: reader)
        for headers in [[:], ["Cookie": "a=1"]] {
            #expect(try await reader.get(path, headers).cacheStatus == "Cameo; fwd=uri-miss; stored")
        }
    }

    @Test func whatTheAnswerNamesOfTheSameOriginIsLoadedAnew() async throws {
        let (reader, path) = (try Reader(), Reader.path("list"))
        let (own, other) = (Reader.path("own"), Reader.path("other"))
        for picture in [own, other] {
            try await reader.origin.script(picture, .fresh())
        }
        _ = try await reader.get(own)
        let elsewhere = try reader.url(other, host: "localhost")
        _ = try await reader.get(elsewhere)
        let named = ["Content-Location: \(own)", "Location: \(elsewhere.absoluteString)"]
        try await reader.origin.script(path, ScriptedAnswer(201, named))
        #expect(try await send("POST", path, "bytes", by: reader).status == 201)
        #expect(try await reader.get(own).cacheStatus == "Cameo; fwd=uri-miss; stored")
        #expect(try await reader.get(elsewhere).cacheStatus.hasPrefix("Cameo; hit"))
    }

    @Test func aFormIsFollowedToItsResult() async throws {
        let (reader, path, end) = (try Reader(), Reader.path("form"), Reader.path("result"))
        try await reader.origin.script(path, ScriptedAnswer(303, ["Location: \(end)"]))
        try await reader.origin.script(end, .fresh("result"))
        let loaded = try await send("POST", path, "bytes", by: reader)
        #expect(loaded.text == "result")
        #expect(loaded.response.url == (try reader.url(end)))
        let sent = try #require(try await reader.origin.requests(of: end).first)
        #expect(sent[":method"] == nil && sent["content-type"] == nil)
    }

    /// A protocol is not shown an upload task's body: the session sends it as ever.
    @Test func anUploadIsTheSessionsOwn() async throws {
        let (reader, path) = try await Reader.scripted(ScriptedAnswer(200, [], body: "done"))
        var request = URLRequest(url: try reader.url(path))
        request.httpMethod = "PUT"
        let (data, _) = try await reader.session.upload(for: request, from: Data("bytes".utf8))
        #expect(data == Data("done".utf8))
        #expect(try await reader.origin.requests(of: path).first?[":body"] == "bytes")
    }
}
