import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoObjectStorage

/// What a browser gets, which knows nothing but the URL.
@Suite(.objectServers(.swift, .juicefs), .serialized, .timeLimit(.minutes(5)))
struct TemporaryURLTests {
    private let data: Data
    private var digest: BlobDigest { BlobDigest(of: data) }

    init() throws {
        data = try bytes(5_000)
    }

    /// The URL of an object that has been stored.
    private func url(_ kind: ObjectServer.Kind, _ terms: TemporaryURLTerms) async throws -> String {
        let storage = try server(kind).storage()
        _ = try await storage.put(data)
        return try #require(try await storage.temporaryURL(of: digest, on: terms)).text
    }

    private static let minute = TemporaryURLTerms(lifetime: .seconds(60))

    private func status(of url: String, _ options: String...) async throws -> String {
        let result = try await run("curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}"] + options + [url])
        #expect(result.exitStatus == 0)
        return result.outputText
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func anyoneCanReadTheBytesWithIt(kind: ObjectServer.Kind) async throws {
        var terms = Self.minute
        terms.mediaType = "image/webp; x=\"1 2\""
        let url = try await url(kind, terms)
        let read = try await run("curl", ["-sf", "-D", "/dev/stderr", url])
        #expect(read.standardOutput == data)
        let headers = read.errorText.lowercased()
        #expect(headers.contains("content-type: image/webp; x=\"1 2\""))
        #expect(headers.contains("cache-control: public, max-age=31536000, immutable"))
        let part = try await run("curl", ["-sf", "-r", "10-19", url])
        #expect(part.standardOutput == data.subdata(in: 10..<20))
        #expect(try await status(of: url, "-r", "10-19") == "206")
    }

    /// A signature covers the method.
    @Test(arguments: ObjectServer.Kind.allCases)
    func itAnswersTheMethodThatItIsFor(kind: ObjectServer.Kind) async throws {
        var terms = Self.minute
        terms.method = .head
        let head = try await url(kind, terms)
        #expect(try await status(of: head, "--head") == "200")
        #expect(try await status(of: head) == "403")
        #expect(try await status(of: try await url(kind, Self.minute), "--head") == "403")
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func itCannotBeUsedAfterItsEnd(kind: ObjectServer.Kind) async throws {
        let url = try await url(kind, TemporaryURLTerms(lifetime: .seconds(3)))
        try await eventually("the URL ends") { try await status(of: url) != "200" }
        #expect(try await status(of: url) == "403")
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func itCannotBeChanged(kind: ObjectServer.Kind) async throws {
        var terms = Self.minute
        terms.mediaType = "image/webp"
        let url = try await url(kind, terms)
        let changes = [
            ("X-Amz-Expires=60", "X-Amz-Expires=600"), ("image%2Fwebp", "text%2Fhtml"),
            (String(digest.hex.suffix(4)), "0000"),
        ]
        for (old, new) in changes {
            #expect(url.contains(old))
            #expect(try await status(of: url.replacing(old, with: new)) == "403")
        }
        #expect(try await status(of: url, "-X", "DELETE") == "403")
        #expect(try await status(of: url, "-X", "PUT", "-d", "x") == "403")
        #expect(try await status(of: url) == "200")
    }

    /// The signature covers the host, so the URL is made for the one that its readers use.
    @Test(arguments: ObjectServer.Kind.allCases)
    func itIsForAnotherEndpointIfReadersHaveOne(kind: ObjectServer.Kind) async throws {
        let server = try server(kind)
        let proxy = try await FaultyProxy.start(before: server.port)
        let endpoint = try #require(Endpoint("http://127.0.0.1:\(proxy.port)"))
        let storage = try server.storage()
        _ = try await storage.put(data)
        let terms = TemporaryURLTerms(lifetime: .seconds(60), endpoint: endpoint)
        let url = try #require(try await storage.temporaryURL(of: digest, on: terms))
        #expect(url.text.hasPrefix("http://127.0.0.1:\(proxy.port)/cameo/"))
        #expect(storage.temporaryURLOrigin(at: endpoint) == "http://127.0.0.1:\(proxy.port)")
        #expect(storage.temporaryURLOrigin(at: nil) == "http://127.0.0.1:\(server.port)")
        #expect(try await status(of: url.text) == "200")
        #expect(try await proxy.requests().count == 1)
        let elsewhere = url.text.replacing(":\(proxy.port)/", with: ":\(server.port)/")
        #expect(try await status(of: elsewhere) == "403")
    }

    /// Of a program that does nothing else, and so is told by no refusal that its clock is wrong.
    @Test(arguments: ObjectServer.Kind.allCases, [-7_200.0, -600, 600, 86_400])
    func aWrongClockDoesNotMatter(kind: ObjectServer.Kind, error: TimeInterval) async throws {
        let (server, prefix) = (try server(kind), "test-\(UUID().uuidString)")
        _ = try await server.storage(prefix).put(data)
        let proxy = try await FaultyProxy.start(before: server.port)
        let storage = try server.storage(prefix, through: proxy) { $0.now = { Date() + error } }
        for _ in 0..<3 {
            let url = try #require(try await storage.temporaryURL(of: digest, on: Self.minute))
            #expect(try await status(of: url.text) == "200")
        }
        // One to learn the time, which may be refused first, and three to read.
        #expect(try await proxy.requests().count <= 5)
    }

    @Test(arguments: [(0.5, 1), (60.0, 60), (10_000_000.0, 604_800)])
    func itLivesForAWeekAtMost(wanted: Double, seconds: Int) async throws {
        let terms = TemporaryURLTerms(lifetime: .seconds(wanted))
        let url = try #require(try await server().storage().temporaryURL(of: digest, on: terms))
        #expect(url.text.contains("&X-Amz-Expires=\(seconds)&"))
        #expect(url.remaining <= .seconds(seconds))
    }
}
