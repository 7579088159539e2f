import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoObjectStorage

@Suite(.serialized, .timeLimit(.minutes(5)))
struct SecureServerTests {
    private static let data = Data("secure".utf8)

    @Test(arguments: ["AWS_CA_BUNDLE", "SSL_CERT_FILE"])
    func aCertificateAuthorityOfOnesOwnIsTrustedByItsFile(variable: String) async throws {
        let server = try await ObjectServer.start(.swift, tls: true)
        let authorities = try #require(server.certificateAuthorities)
        let storage = try ByteStorages.open(
            server.name("x"),
            creating: true,
            environment: server.environment.merging([variable: authorities]) { $1 }
        )
        #expect(try await storage.put(Self.data) == .stored)
        #expect(try await storage.data(of: BlobDigest(of: Self.data), size: Self.data.count) == Self.data)
    }

    /// Nothing is repeated: neither another attempt nor another hour changes a certificate.
    @Test func anUntrustedServerIsGivenNothing() async throws {
        let server = try await ObjectServer.start(.swift, tls: true)
        let storage = try ByteStorages.open(server.name("x"), creating: true, environment: server.environment)
        let begun = ContinuousClock.now
        _ = try await trouble("unreachable", of: storage) { try await storage.put(Self.data) }
        #expect(begun.duration(to: .now) < RetryRules().patience / 2)
    }

    @Test func aBucketCanStandInTheHostsName() async throws {
        let server = try await ObjectServer.start(.swift, tls: true)
        let authorities = try #require(server.certificateAuthorities)
        let storage = try ByteStorages.open(
            server.name("x") + "&addressing=virtual",
            creating: true,
            environment: server.environment.merging(["AWS_CA_BUNDLE": authorities]) { $1 }
        )
        #expect(try await storage.put(Self.data) == .stored)
        #expect(try await storage.list(after: nil, limit: 10).objects.map(\.size) == [Self.data.count])
        let digest = BlobDigest(of: Self.data)
        let terms = TemporaryURLTerms(lifetime: .seconds(60))
        let url = try #require(try await storage.temporaryURL(of: digest, on: terms)).text
        #expect(storage.temporaryURLOrigin(at: nil) == "https://cameo.localhost:\(server.port)")
        #expect(url.hasPrefix("https://cameo.localhost:\(server.port)/x/"))
        let read = try await run("curl", ["-sf", "--cacert", authorities, url])
        #expect(read.standardOutput == Self.data)
    }
}
