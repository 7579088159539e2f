import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoObjectStorage

/// A real server behind a network and a load balancer that fail.
@Suite(.objectServers(.swift, .juicefs), .serialized, .timeLimit(.minutes(5)))
struct FaultTests {
    private let server: ObjectServer
    private let proxy: FaultyProxy
    private let data: Data
    private var digest: BlobDigest { BlobDigest(of: data) }

    init() async throws {
        data = try bytes(20_000)
        server = try CameoObjectStorageTests.server()
        proxy = try await FaultyProxy.start(before: server.port)
    }

    @Test(arguments: [
        (503, "SlowDown"), (500, "InternalError"), (502, "BadGateway"), (504, "GatewayTimeout"),
        (429, "TooManyRequests"),
        (409, "ConditionalRequestConflict"), (400, "RequestTimeout"), (408, "RequestTimeout"),
    ])
    func whatPassesIsTriedAgain(status: Int, code: String) async throws {
        let storage = try server.storage(through: proxy)
        try await proxy.add(.answer(status, code).times(2, "PUT"))
        #expect(try await storage.put(data) == .stored)
        try await proxy.add(.answer(status, code).times(2, "GET"))
        #expect(try await storage.data(of: digest, size: data.count) == data)
        #expect(try await storage.list(after: nil, limit: 10).objects.count == 1)
        try await proxy.add(.answer(status, code).times(2, "DELETE"))
        try await storage.remove(digest)
        #expect(try await proxy.requests().count == 10)
    }

    @Test func anErrorThatLastsEndsWithItsReasonWhenPatienceDoes() async throws {
        let storage = try server.storage(through: proxy) {
            $0.retries.patience = .seconds(3)
            $0.random = { 0 }
        }
        try await proxy.add(.answer(503, "SlowDown").times(1_000_000))
        let reason = try await trouble("unreachable", of: storage) { try await storage.put(data) }
        #expect(reason == "the server answered 503 (SlowDown: made for a test)")
        #expect(try await proxy.requests().count > 1)
    }

    @Test func theServerMayAskForAPause() async throws {
        let storage = try server.storage(through: proxy)
        try await proxy.add(.answer(503, "SlowDown", headers: ["Retry-After": "1"]).times(1))
        let begun = ContinuousClock.now
        #expect(try await storage.put(data) == .stored)
        #expect(begun.duration(to: .now) >= .seconds(1))
    }

    @Test func aPutWhoseAnswerIsLostHasStoredTheBytes() async throws {
        let storage = try server.storage(through: proxy)
        try await proxy.add(.loss.times(1, "PUT"))
        #expect(try await storage.put(data) == .existed)
        #expect(try await storage.data(of: digest, size: data.count) == data)
    }

    @Test(arguments: [false, true])
    func aReadThatBreaksOffIsReadAgain(large: Bool) async throws {
        let storage = try server.storage(through: proxy) { $0.largestInMemory = large ? 0 : 1_000_000 }
        _ = try await storage.put(data)
        try await proxy.add(.cut(after: 7_000).times(2, "GET"))
        #expect(try await storage.bytes(of: digest, size: data.count).read() == (data, large))
        #expect(try await proxy.requests().count == 4)
    }

    @Test func aServerThatStallsIsGivenUpInTime() async throws {
        let storage = try server.storage(through: proxy) {
            $0.limits.overhead = .seconds(1)
            $0.retries.patience = .seconds(4)
            $0.random = { 0 }
        }
        try await proxy.add(.stall.times(100))
        await #expect(throws: StoreError.unreachable(location: storage.location, reason: "Timeout was reached")) {
            try await storage.put(data)
        }
        #expect(try await proxy.requests().count > 1)
    }

    @Test func aStallIsOvercomeByTheNextAttempt() async throws {
        let storage = try server.storage(through: proxy) { $0.limits.stall = .seconds(1) }
        try await proxy.add(.stall.times(1, "PUT"))
        #expect(try await storage.put(data) == .stored)
    }

    @Test func aServerThatIsDownIsUnreachable() async throws {
        // A privileged port at which nobody listens.
        let name = try BucketName(server.name("x", port: 1), environment: [:])
        var configuration = ObjectStorageConfiguration(environment: server.environment)
        configuration.retries = RetryRules(firstPause: .milliseconds(5), patience: .milliseconds(200))
        let storage = try ObjectStorage(name, configuration: configuration)
        _ = try await trouble("unreachable", of: storage) { try await storage.data(of: digest, size: 1) }
    }

    @Test func aCancelledCallEndsSoon() async throws {
        let storage = try server.storage(through: proxy)
        try await proxy.add(.stall.times(100))
        let call = Task { try await storage.put(data) }
        try await eventually("the request arrives") { try await !proxy.requests().isEmpty }
        call.cancel()
        await #expect(throws: StoreError.unreachable(location: storage.location, reason: "the call was cancelled")) {
            try await call.value
        }
    }

    @Test func aClosedStorageEndsItsTransfers() async throws {
        let storage = try server.storage(through: proxy)
        try await proxy.add(.stall.times(100))
        let call = Task { try await storage.put(data) }
        try await eventually("the request arrives") { try await !proxy.requests().isEmpty }
        storage.close()
        await #expect(throws: StoreError.self) { try await call.value }
    }

    @Test func aServerWithoutConditionsIsAskedFirst() async throws {
        let storage = try server.storage(through: proxy)
        try await proxy.add(.answer(501, "NotImplemented").times(1, "PUT"))
        #expect(try await storage.put(data) == .stored)
        try await proxy.add(.answer(501, "NotImplemented").times(1, "PUT"))
        #expect(try await storage.put(data) == .existed)
        #expect(try await proxy.requests().map { $0.prefix(4) } == ["PUT ", "HEAD", "PUT ", "PUT ", "HEAD"])
    }

    @Test(arguments: [(507, "InsufficientStorage"), (403, "QuotaExceeded")])
    func aFullStorageIsFull(status: Int, code: String) async throws {
        let storage = try server.storage(through: proxy)
        try await proxy.add(.answer(status, code).times(1))
        await #expect(throws: StoreError.full(path: storage.location)) { try await storage.put(data) }
        #expect(try await proxy.requests().count == 1)
    }

    @Test func theBucketsOwnRegionIsNamed() async throws {
        let storage = try server.storage(through: proxy)
        let headers = ["x-amz-bucket-region": "eu-central-1", "Location": "http://127.0.0.1:1/"]
        try await proxy.add(.answer(301, "PermanentRedirect", headers: headers).times(1))
        let error = await #expect(throws: StoreError.self) { try await storage.put(data) }
        #expect(error?.description.contains("the bucket's region is eu-central-1") == true)
        #expect(try await proxy.requests().count == 1)
    }

    @Test(arguments: [
        "", "<html>sign in</html", "<ListBucketResult><Contents><Key>x</Key></Contents><IsTruncated>true",
    ])
    func aListingThatIsNoneFails(body: String) async throws {
        let storage = try server.storage(through: proxy)
        try await proxy.add(.body(body).times(1))
        let error = await #expect(throws: StoreError.self) { try await storage.list(after: nil, limit: 10) }
        guard case .failed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// Empty, or as a server answers that does not know `start-after`.
    @Test(arguments: ["", "<Contents><Key>ab/c</Key></Contents>"])
    func aListingThatNeverEndsFails(contents: String) async throws {
        let storage = try server.storage(through: proxy)
        let body = "<ListBucketResult>\(contents)<IsTruncated>true</IsTruncated></ListBucketResult>"
        try await proxy.add(.body(body).times(1))
        await #expect(throws: StoreError.failed("\(storage.location): a listing has no end")) {
            try await storage.list(after: "ab/c", limit: 10)
        }
    }

    @Test func aListingOfUploadsThatReturnsToItsBeginningFails() async throws {
        let storage = try server.storage(through: proxy)
        for key in ["a", "b", "a"] {
            let marker = "<NextKeyMarker>\(key)</NextKeyMarker><IsTruncated>true</IsTruncated>"
            try await proxy.add(.body("<ListMultipartUploadsResult>\(marker)</ListMultipartUploadsResult>").times(1))
        }
        await #expect(throws: StoreError.failed("\(storage.location): a listing of uploads has no end")) {
            try await storage.removeUnfinished(before: .now)
        }
    }

    /// As Backblaze B2 and Cloudflare R2 have done.
    @Test(arguments: [400, 501])
    func aServerThatRefusesChecksumsIsAskedWithoutThem(status: Int) async throws {
        let storage = try server.storage(through: proxy)
        try await proxy.add(.answer(status, "InvalidArgument: x-amz-checksum-sha256").times(1, "PUT"))
        #expect(try await storage.put(data, existing: .replaced) == .stored)
        #expect(try await storage.put(data, existing: .replaced) == .stored)
        let checksums = try await proxy.sent().map { $0.headers["x-amz-checksum-sha256"] }
        #expect(checksums.count == 3 && checksums[0] != nil && checksums[1] == nil && checksums[2] == nil)
        #expect(try await storage.data(of: digest, size: data.count) == data)
    }

    @Test(arguments: ["InvalidRequest", "KMS.DisabledException", "InvalidStorageClass"])
    func whatABucketRefusesForGoodIsNotTheJobs(code: String) async throws {
        let storage = try server.storage(through: proxy)
        try await proxy.add(.answer(400, code).times(1))
        let reason = try await trouble("denied", of: storage) { try await storage.put(data) }
        #expect(reason.contains(code))
    }
}
