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
    private var digest: BlobDigest { SHA256.digest(of: data) }

    init() throws {
        data = try bytes(5_000)
    }

    private func url(
        _ kind: ObjectServer.Kind,
        mediaType: String? = nil,
        signedBefore seconds: TimeInterval = 0
    ) async throws -> String {
        let server = try #require(ObjectServerScope.current[kind])
        let prefix = "test-\(UUID().uuidString)"
        _ = try await server.storage(prefix).put(data)
        let signing = try server.storage(prefix) { $0.now = { Date() - seconds } }
        return try #require(try await signing.temporaryURL(of: digest, mediaType: mediaType, validFor: .seconds(60)))
    }

    private func status(of url: String, _ options: String...) async throws -> String {
        let result = try await run("curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}"] + options + [url])
        #expect(result.exitStatus == 0)
        return result.outputText
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func anyoneCanReadTheBytesWithIt(kind: ObjectServer.Kind) async throws {
        let url = try await url(kind, mediaType: "image/webp; x=\"1 2\"")
        let read = try await run("curl", ["-sf", "-D", "/dev/stderr", url])
        #expect(read.standardOutput == data)
        #expect(read.errorText.lowercased().contains("content-type: image/webp; x=\"1 2\""))
        #expect(try await status(of: url, "-r", "0-9") == "206")
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func itCannotBeUsedAfterItsEnd(kind: ObjectServer.Kind) async throws {
        #expect(try await status(of: try await url(kind, signedBefore: 50)) == "200")
        #expect(try await status(of: try await url(kind, signedBefore: 62)) == "403")
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func itCannotBeChanged(kind: ObjectServer.Kind) async throws {
        let url = try await url(kind, mediaType: "image/webp")
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

    @Test(arguments: [(0.5, 1), (60.0, 60), (10_000_000.0, 604_800)])
    func itLivesForAWeekAtMost(wanted: Double, seconds: Int) async throws {
        let server = try #require(ObjectServerScope.current[.swift])
        let url = try await server.storage().temporaryURL(of: digest, mediaType: nil, validFor: .seconds(wanted))
        #expect(url?.contains("&X-Amz-Expires=\(seconds)&") == true)
    }
}
