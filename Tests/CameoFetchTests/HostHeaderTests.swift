import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.origin, .timeLimit(.minutes(10)))
struct HostHeaderTests {
    private let origin = Origin.ofSuite

    private func fetcher(_ headers: String...) throws -> Fetcher {
        try Fetcher(FetchConfiguration.forTests.with(\.hostHeaders, try headers.map { try HostHeader(parsing: $0) }))
    }

    private func echo(
        _ path: String = "/headers",
        host: String = "127.0.0.1",
        headers: [String: String] = [:],
        by fetcher: Fetcher
    ) async throws -> [String: String] {
        let contents = try await fetcher.fetch(origin.url(path, host: host), headers: headers).contents()
        let echo = try JSONDecoder().decode([String: String].self, from: contents)
        return Dictionary(echo.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    @Test
    func headersGoToTheirHostAndPortAlone() async throws {
        let fetcher = try fetcher(
            "http://127.0.0.1:\(origin.port): Authorization: Bearer secret: 1",
            "HTTP://127.0.0.1:\(origin.port): User-Agent: Own/2",
            "http://localhost: Cookie: a=1"
        )
        let own = try await echo(by: fetcher)
        #expect(own["authorization"] == "Bearer secret: 1")
        #expect(own["user-agent"] == "Own/2")
        let other = try await echo(host: "localhost", by: fetcher)
        #expect(other["authorization"] == nil)
        #expect(other["user-agent"] == FetchConfiguration().userAgent)
        #expect(other["cookie"] == nil, "it is for port 80")
    }

    @Test
    func headersDoNotGoOnToAnotherHost() async throws {
        let fetcher = try fetcher("http://127.0.0.1:\(origin.port): X-Key: secret")
        let away = origin.url("/headers", host: "localhost")
        #expect(try await echo("/redirect?to=\(away)", by: fetcher)["x-key"] == nil)
        // Where they belong they are sent, however one came there.
        #expect(try await echo("/redirect?to=\(origin.url("/headers"))", by: fetcher)["x-key"] == "secret")
        let back = try await echo("/redirect?to=\(origin.url("/headers"))", host: "localhost", by: fetcher)
        #expect(back["x-key"] == "secret")
    }

    @Test
    func theRequestsOwnCredentialsComeFirst() async throws {
        let fetcher = try fetcher(
            "http://127.0.0.1:\(origin.port): Authorization: Bearer operator",
            "http://127.0.0.1:\(origin.port): X-Key: operator"
        )
        let own = try await echo(headers: ["AUTHORIZATION": "Bearer tenant"], by: fetcher)
        #expect(own["authorization"] == "Bearer tenant")
        #expect(own["x-key"] == "operator")
        let password = try await echo(host: "user:tenant@127.0.0.1", by: fetcher)
        #expect(password["authorization"]?.hasPrefix("Basic ") == true)
    }

    @Test
    func aFileHasTheHeadersOfManyHosts() async throws {
        let json = """
            {"http://127.0.0.1:\(origin.port)": {"X-Key": "secret", "X-Other": ""}, "example.com": {"X-Key": "other"}}
            """
        let headers = try HostHeader.list(parsing: Data(json.utf8))
        #expect(headers.count == 3)
        let own = try await echo(by: Fetcher(FetchConfiguration.forTests.with(\.hostHeaders, headers)))
        #expect(own["x-key"] == "secret")
        #expect(own["x-other"] == "")
    }

    @Test(arguments: [
        "", "example.com", "example.com: hunter2", "example.com:X-Key:hunter2", ": X-Key: hunter2",
        "example.com/a: X-Key: hunter2", "user@example.com: X-Key: hunter2", "ftp://example.com: X-Key: hunter2",
        "example.com:port: X-Key: hunter2", "example.com: Host: hunter2", "example.com: X Key: hunter2",
        "example.com: X-Key: hunter2\r\nX-B: c", "http://: X-Key: hunter2",
    ])
    func whatIsNoHeaderForAHostIsRefusedWithoutItsValue(text: String) throws {
        let error = #expect(throws: FetchConfigurationError.self) { try HostHeader(parsing: text) }
        guard case .hostHeader = try #require(error) else {
            Issue.record("\(text): \(String(describing: error))")
            return
        }
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test(arguments: [
        "[]", "{", #"{"example.com": "hunter2"}"#, #"{"example.com": {"X-Key": 7}}"#,
        #"{"example.com": {"Host": "hunter2"}}"#, #"{"a b": {"X-Key": "hunter2"}}"#,
        #"{"example.com": {"X-Key": "a"}, "example.com": {"X-Key": "hunter2"}}"#,
    ])
    func aFileThatIsNoneIsRefused(json: String) throws {
        let error = #expect(throws: FetchConfigurationError.self) { try HostHeader.list(parsing: json.utf8) }
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test
    func oneHeaderTwiceIsRefused() throws {
        let error = #expect(throws: FetchConfigurationError.self) {
            try fetcher("example.com: X-Key: a", "https://example.com:443: x-key: b")
        }
        #expect(error?.description.contains("example.com: a header is there twice") == true)
    }
}
