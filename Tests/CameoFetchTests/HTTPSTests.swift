import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HTTPSTests {
    private let folder: TemporaryFolder
    private let origin: Origin
    private let trusting: Fetcher

    init() async throws {
        folder = try TemporaryFolder()
        origin = try await Origin.start(tls: folder.path)
        trusting = try Fetcher(
            FetchConfiguration.forTests.with(\.certificateAuthorityFile, folder.path("origin.pem"))
        )
    }

    @Test
    func aTrustedServerIsReadAndItsConnectionUsedAgain() async throws {
        for _ in 0..<3 {
            #expect(try await trusting.fetch(origin.url("/bytes", host: "localhost")).bytes == 1_000)
        }
        #expect(try await origin.counts().requests["/bytes"] == 3)
    }

    @Test
    func anUntrustedCertificateIsAFailureForGood() async throws {
        let failure = try await failure(of: origin.url("/bytes", host: "localhost"), with: Fetcher(.forTests))
        #expect(failure.code == .sourceUnreachable)
        #expect(!failure.isRetryable)
        #expect(failure.message.contains("cannot be trusted"))
    }

    @Test
    func aCertificateForAnotherNameIsAFailureForGood() async throws {
        try await expect(.sourceUnreachable, of: origin.url("/bytes"), by: trusting, isRetryable: false)
    }

    @Test
    func anExpiredCertificateIsAFailureForGood() async throws {
        let folder = try TemporaryFolder()
        let origin = try await Origin.start(tls: folder.path, isExpired: true)
        // Trusted and of the right name: nothing but its time is wrong.
        let trusting = try Fetcher(
            FetchConfiguration.forTests.with(\.certificateAuthorityFile, folder.path("origin.pem"))
        )
        let failure = try await failure(of: origin.url("/bytes", host: "localhost"), with: trusting)
        #expect(failure.code == .sourceUnreachable)
        #expect(!failure.isRetryable)
        #expect(failure.message.contains("cannot be trusted"))
    }

    @Test
    func aServerThatSpeaksNoTLSIsUnreachable() async throws {
        let plain = try await Origin.start()
        try await expect(.sourceUnreachable, of: "https://localhost:\(plain.port)/bytes", by: trusting)
    }

    @Test
    func aRedirectToPlainHTTPLosesTheHeaders() async throws {
        let plain = try await Origin.start()
        let target = plain.url("/headers", host: "localhost")
        let url = origin.url("/redirect?to=\(target)", host: "localhost")
        let echo = try await trusting.fetch(url, headers: ["X-Token": "secret"]).contents()
        #expect(!String(decoding: echo, as: UTF8.self).contains("secret"))
    }

    @Test
    func anOperatorsHeaderForAHostDoesNotGoOutInTheClear() async throws {
        let plain = try await Origin.start()
        let target = plain.url("/headers", host: "localhost")
        let headers = try [origin.port, plain.port].map { port in
            try HostHeader(host: "localhost:\(port)", name: "X-Key", value: "secret")
        }
        let trust = FetchConfiguration.forTests.with(\.certificateAuthorityFile, folder.path("origin.pem"))
        let fetcher = try Fetcher(trust.with(\.hostHeaders, headers))
        let own = try await fetcher.fetch(origin.url("/headers", host: "localhost")).contents()
        #expect(String(decoding: own, as: UTF8.self).contains("secret"))
        for url in [target, origin.url("/redirect?to=\(target)", host: "localhost")] {
            let echo = try await fetcher.fetch(url).contents()
            #expect(!String(decoding: echo, as: UTF8.self).contains("secret"), "\(url)")
        }
    }
}
