import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoObjectStorage

@Suite(.objectServers(.swift, .juicefs), .serialized, .timeLimit(.minutes(5)))
struct ObjectStorageTests {
    @Test(arguments: ObjectServer.Kind.allCases)
    func damagedBytesAreNeverReturnedAndCanBeReplaced(kind: ObjectServer.Kind) async throws {
        let storage = try server(kind).storage()
        let (data, other) = (try bytes(2_000), try bytes(2_000))
        let digest = BlobDigest(of: data)
        _ = try await storage.put(data)
        try await storage.damage(digest, with: other)
        await #expect(throws: StoreError.damagedBlob(digest: digest.description)) {
            try await storage.data(of: digest, size: 2_000)
        }
        #expect(try await storage.put(data, existing: .replaced) == .stored)
        #expect(try await storage.data(of: digest, size: 2_000) == data)
    }

    /// The server compares the body with the digest that was signed, so nothing is stored under a wrong name.
    @Test(arguments: ObjectServer.Kind.allCases)
    func bytesThatWereChangedOnTheWayAreRefused(kind: ObjectServer.Kind) async throws {
        let storage = try server(kind).storage()
        let digest = BlobDigest(of: Data("other".utf8))
        let error = await #expect(throws: StoreError.self) {
            try await storage.put(Data("bytes".utf8), as: digest, mediaType: nil, existing: .kept)
        }
        #expect(error?.description.contains("XAmzContentSHA256Mismatch") == true)
        #expect(try await storage.list(after: nil, limit: 10).objects.isEmpty)
    }

    /// A bucket with Object Lock refuses a put without a checksum, whatever the signature says of the body.
    @Test(arguments: ObjectServer.Kind.allCases)
    func everyPutHasASignedChecksum(kind: ObjectServer.Kind) async throws {
        let server = try server(kind)
        let proxy = try await FaultyProxy.start(before: server.port)
        let storage = try server.storage(through: proxy)
        _ = try await storage.put(Data("Hello, World!".utf8))
        try await storage.setOwner("Hello, World!", existing: .replaced)
        #expect(try await storage.owner() == "Hello, World!")
        let requests = try await proxy.sent()
        #expect(requests.map(\.method) == ["PUT", "PUT", "GET"])
        for request in requests {
            let checksum = request.method == "PUT" ? "3/1gIbsr1bCvZ2KQgJ7DpTGR3YHH9wpLKGiKNiGCmG8=" : nil
            #expect(request.headers["x-amz-checksum-sha256"] == checksum)
            let isSigned = request.headers["authorization"]?.contains(";x-amz-checksum-sha256;")
            #expect(isSigned == (checksum != nil))
        }
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func aWrongSecretIsDeniedAtOnceAndNotRepeated(kind: ObjectServer.Kind) async throws {
        let server = try server(kind)
        let proxy = try await FaultyProxy.start(before: server.port)
        let storage = try server.storage(through: proxy, environment: ["AWS_SECRET_ACCESS_KEY": "not-the-one"])
        let reason = try await trouble("denied", of: storage) { try await storage.put(Data("x".utf8)) }
        #expect(reason.contains("SignatureDoesNotMatch"))
        #expect(!reason.contains("not-the-one") && !storage.location.contains("not-the-one"))
        #expect(try await proxy.requests().count == 1)
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func aBucketThatDoesNotExistIsDeniedByName(kind: ObjectServer.Kind) async throws {
        let server = try server(kind)
        let text = server.name("x").replacing("s3://cameo/", with: "s3://nowhere/")
        let name = try BucketName(text, environment: server.environment)
        let storage = try ObjectStorage(name, configuration: .init(environment: server.environment))
        let digest = BlobDigest(of: Data())
        for call in [{ try await storage.put(Data()) as Any }, { try await storage.data(of: digest, size: 0) as Any }] {
            let error = await #expect(throws: StoreError.self) { try await call() }
            #expect(error?.description.contains("NoSuchBucket") == true)
        }
    }

    @Test func aWrongRegionIsDeniedByName() async throws {
        let server = try server(.swift)
        let text = server.name("x").replacing("region=us-east-1", with: "region=eu-west-1")
        let name = try BucketName(text, environment: server.environment)
        let storage = try ObjectStorage(name, configuration: .init(environment: server.environment))
        let reason = try await trouble("denied", of: storage) { try await storage.put(Data()) }
        #expect(reason.contains("region"))
    }

    @Test func prefixesKeepStoragesApartAndOtherKeysAreForeign() async throws {
        let server = try server()
        let prefix = "test-\(UUID().uuidString)"
        let (one, two) = (try server.storage(prefix), try server.storage("\(prefix)/inner"))
        for storage in [one, two, try server.storage("\(prefix)0")] { _ = try await storage.put(Data("same".utf8)) }
        let digest = BlobDigest(of: Data("same".utf8))
        for name in ["notes & <more>.txt", "ab/short", "ab/\(digest.hex)"] {
            let encoded = PercentEncoding.encoded(name.utf8, keeping: [0x2F])
            let request = BucketRequest(
                method: .put,
                key: "\(prefix)/\(encoded)",
                headers: [("content-type", "text/plain")],
                body: Data()
            )
            _ = try await one.client.send(request)
        }
        let page = try await one.list(after: nil, limit: 100)
        #expect(page.objects.map(\.digest) == [digest])
        let inner = "inner/\(digest.hex.prefix(2))/\(digest.hex.dropFirst(2))"
        #expect(page.foreign.sorted() == ["ab/\(digest.hex)", "ab/short", inner, "notes & <more>.txt"].sorted())
        #expect(try await two.list(after: nil, limit: 100).objects.count == 1)
        // A page of names that are all foreign still has a next one.
        var (cursor, foreign, objects) = (String?.none, 0, 0)
        repeat {
            let page = try await one.list(after: cursor, limit: 1)
            (foreign, objects, cursor) = (foreign + page.foreign.count, objects + page.objects.count, page.next)
        } while cursor != nil && foreign < 10
        #expect((foreign, objects) == (4, 1))
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func thousandsOfObjectsAreListedByPages(kind: ObjectServer.Kind) async throws {
        let storage = try server(kind).storage()
        let count = kind == .juicefs ? 2_500 : TestLength.rounds(300, full: 2_500)
        let all = (0..<count).map { Data("\($0)".utf8) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for data in all { group.addTask { _ = try await storage.put(data, existing: .replaced) } }
            try await group.waitForAll()
        }
        var (listed, cursor, pages) = ([String](), String?.none, 0)
        repeat {
            let page = try await storage.list(after: cursor, limit: count / 3 + 1)
            (listed, cursor, pages) = (listed + page.objects.map(\.digest.hex), page.next, pages + 1)
        } while cursor != nil && pages < 10
        #expect(listed == all.map { BlobDigest(of: $0).hex }.sorted())
        #expect(pages == 3)
    }

    /// Servers refuse what is signed with a time that differs by a quarter of an hour from theirs.
    @Test(arguments: ObjectServer.Kind.allCases, [-3_600.0, 3_600, 86_400])
    func aWrongClockIsCorrectedByTheServers(kind: ObjectServer.Kind, error: TimeInterval) async throws {
        let server = try server(kind)
        let proxy = try await FaultyProxy.start(before: server.port)
        let storage = try server.storage(through: proxy) { $0.now = { Date() + error } }
        for index in 0..<3 { #expect(try await storage.put(Data("\(index)".utf8)) == .stored) }
        #expect(try await proxy.requests().count == 4)
        // The answer to a HEAD has no code that tells why.
        let fresh = try server.storage(through: proxy) { $0.now = { Date() + error } }
        #expect(try await fresh.size(of: BlobDigest(of: Data())) == nil)
    }

    @Test func aConnectionIsUsedAgain() async throws {
        let server = try server()
        let proxy = try await FaultyProxy.start(before: server.port)
        let storage = try server.storage(through: proxy)
        for index in 0..<10 {
            let data = Data("\(index)".utf8)
            _ = try await storage.put(data)
            _ = try await storage.data(of: BlobDigest(of: data), size: data.count)
        }
        #expect(try await proxy.connections() == 1)
    }

    @Test func noMoreTransfersRunAtATimeThanAllowed() async throws {
        let server = try server()
        let proxy = try await FaultyProxy.start(before: server.port)
        let storage = try server.storage(through: proxy) { $0.concurrency = 3 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<30 { group.addTask { _ = try await storage.put(Data("\(index)".utf8)) } }
            try await group.waitForAll()
        }
        #expect(try await proxy.connections() == 3)
        #expect(try await proxy.requests().count == 30)
    }

    @Test func theMediaTypeIsThatOfTheBytes() async throws {
        let storage = try server().storage()
        let digest = BlobDigest(of: Data("x".utf8))
        for (given, kept) in [
            ("image/webp", "image/webp"), (nil, "application/octet-stream"), ("a\r\nb: c", "application/octet-stream"),
        ] {
            _ = try await storage.put(Data("x".utf8), as: digest, mediaType: given, existing: .replaced)
            let answer = try await storage.client.send(BucketRequest(method: .head, key: storage.key(of: digest)))
            #expect(answer.headers["content-type"] == kept)
        }
    }
}
