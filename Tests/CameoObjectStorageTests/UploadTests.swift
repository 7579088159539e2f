import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoObjectStorage

/// Large objects, in parts of 5 MiB, the smallest that S3 allows.
@Suite(.objectServers(.swift, .juicefs), .serialized, .timeLimit(.minutes(5)))
struct UploadTests {
    private static let part = 5_242_880
    private static let size = 2 * part + 1_000
    private let data: Data
    private var digest: BlobDigest { BlobDigest(of: data) }

    init() throws {
        data = try bytes(Self.size)
    }

    private func storage(_ kind: ObjectServer.Kind, through proxy: FaultyProxy? = nil) throws -> ObjectStorage {
        try server(kind).storage(through: proxy) {
            $0.largestPut = Self.part
            $0.partBytes = Self.part
        }
    }

    private func proxied(_ kind: ObjectServer.Kind = .swift) async throws -> (ObjectStorage, FaultyProxy) {
        let proxy = try await FaultyProxy.start(before: server(kind).port)
        return (try storage(kind, through: proxy), proxy)
    }

    private func uploads(_ storage: ObjectStorage) async throws -> Int {
        try await storage.removeUnfinished(before: .now + 100)
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func fortyMebibytesAreUploadedInParts(kind: ObjectServer.Kind) async throws {
        let server = try server(kind)
        let proxy = try await FaultyProxy.start(before: server.port)
        let storage = try server.storage(through: proxy)
        let data = try bytes(41_943_040)
        #expect(try await storage.put(data) == .stored)
        let requests = try await proxy.requests()
        #expect(requests.filter { $0.contains("partNumber=") }.count == 5)
        let digest = BlobDigest(of: data)
        #expect(try await storage.list(after: nil, limit: 10).objects.map(\.size) == [data.count])
        #expect(try await storage.data(of: digest, size: data.count) == data)
        let range = 8_388_600..<8_388_620
        #expect(try await storage.data(of: digest, range: range, size: data.count) == data[range])
        #expect(try await storage.bytes(of: digest, size: data.count).read() == (data, true))
        #expect(try await uploads(storage) == 0)
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func everyPartHasItsChecksum(kind: ObjectServer.Kind) async throws {
        let (storage, proxy) = try await proxied(kind)
        #expect(try await storage.put(data, existing: .replaced) == .stored)
        let requests = try await proxy.sent()
        #expect(requests.first?.headers["x-amz-checksum-algorithm"] == "SHA256")
        let parts = stride(from: 0, to: Self.size, by: Self.part).map { data[$0..<min($0 + Self.part, Self.size)] }
        let checksums = requests.compactMap { $0.headers["x-amz-checksum-sha256"] }
        #expect(checksums.sorted() == parts.map { BlobDigest(of: $0).base64 }.sorted())
        // Neither server says that it keeps them, so the end does not name them.
        #expect(requests.last?.body.contains("<ETag>") == true && requests.last?.body.contains("Checksum") == false)
    }

    @Test func aServerThatKeepsChecksumsGetsThemAtTheEnd() async throws {
        let proxy = try await FaultyProxy.start(before: try server(.swift).port)
        let headers = ["ETag": "tag", "x-amz-checksum-sha256": "c+um="]
        try await proxy.add(.answer(200, "None", headers: headers).times(3, "PUT", containing: "partNumber="))
        try await proxy.add(.body("<CompleteMultipartUploadResult/>").times(1, "POST", containing: "uploadId="))
        #expect(try await storage(.swift, through: proxy).put(data, existing: .replaced) == .stored)
        let part = "<ETag>tag</ETag><ChecksumSHA256>c+um=</ChecksumSHA256></Part>"
        #expect(try await proxy.sent().last?.body.components(separatedBy: part).count == 4)
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func whatIsThereIsNotUploadedAgain(kind: ObjectServer.Kind) async throws {
        let (storage, proxy) = try await proxied(kind)
        #expect(try await storage.put(data) == .stored)
        let before = try await proxy.requests().count
        #expect(try await storage.put(data) == .existed)
        #expect(try await proxy.requests().count == before + 1)
        #expect(try await storage.put(data, existing: .replaced) == .stored)
        #expect(try await storage.data(of: digest, size: data.count) == data)
    }

    /// The condition is judged at the end: another has put the bytes meanwhile.
    @Test func ofTwoUploadsTheSecondFindsTheBytes() async throws {
        let (storage, proxy) = try await proxied()
        #expect(try await storage.put(data) == .stored)
        // As if the object had come after it was looked for.
        try await proxy.add(.answer(404, "NoSuchKey").times(1, "HEAD"))
        #expect(try await storage.put(data) == .existed)
        #expect(try await uploads(storage) == 0)
        #expect(try await storage.data(of: digest, size: data.count) == data)
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func anUploadWithAPartThatFailsIsAborted(kind: ObjectServer.Kind) async throws {
        let (storage, proxy) = try await proxied(kind)
        try await proxy.add(.answer(403, "AccessDenied").times(1, "PUT", containing: "partNumber=2"))
        _ = try await trouble("denied", of: storage) { try await storage.put(data) }
        #expect(try await uploads(storage) == 0)
        #expect(try await storage.list(after: nil, limit: 10) == StoredObjectPage())
    }

    @Test func aPartThatFailsInPassingIsSentAgain() async throws {
        let (storage, proxy) = try await proxied()
        try await proxy.add(.answer(500, "InternalError").times(2, "PUT", containing: "partNumber=2"))
        try await proxy.add(.answer(503, "SlowDown").times(2, "POST"))
        #expect(try await storage.put(data) == .stored)
        #expect(try await storage.data(of: digest, size: data.count) == data)
    }

    @Test func aCancelledUploadIsAborted() async throws {
        let (storage, proxy) = try await proxied()
        try await proxy.add(.stall.times(1, "PUT", containing: "partNumber=3"))
        let call = Task { try await storage.put(data) }
        try await eventually("the third part is sent") {
            try await proxy.requests().contains { $0.contains("partNumber=3") }
        }
        call.cancel()
        await #expect(throws: StoreError.self) { try await call.value }
        #expect(try await uploads(storage) == 0)
        #expect(try await storage.list(after: nil, limit: 10) == StoredObjectPage())
    }

    /// What the server has done is found out, whatever became of its answer.
    @Test(arguments: ObjectServer.Kind.allCases)
    func anEndWhoseAnswerIsLostHasStoredTheBytes(kind: ObjectServer.Kind) async throws {
        let (storage, proxy) = try await proxied(kind)
        try await proxy.add(.loss.times(1, "POST", containing: "uploadId="))
        _ = try await storage.put(data)
        #expect(try await storage.data(of: digest, size: data.count) == data)
        #expect(try await uploads(storage) == 0)
    }

    /// Servers begin to answer 200 before they are done, to keep the connection.
    @Test(arguments: ObjectServer.Kind.allCases)
    func anErrorInASuccessIsAnError(kind: ObjectServer.Kind) async throws {
        let (storage, proxy) = try await proxied(kind)
        let late = FaultyProxy.Fault.body("\n\n<Error><Code>InternalError</Code><Message>late</Message></Error>")
        try await proxy.add(late.times(1, "POST", containing: "uploadId="))
        _ = try await storage.put(data)
        #expect(try await proxy.requests().filter { $0.hasPrefix("POST") && $0.contains("uploadId=") }.count == 2)
        #expect(try await storage.data(of: digest, size: data.count) == data)
    }

    @Test(arguments: ObjectServer.Kind.allCases)
    func whatADeadProcessHasBegunIsRemovedLater(kind: ObjectServer.Kind) async throws {
        let (one, other) = (try storage(kind), try storage(kind))
        for storage in [one, other] {
            let request = BucketRequest(
                method: .post,
                key: storage.key(of: digest),
                query: [("uploads", "")],
                headers: [("content-type", "image/webp")],
                body: Data()
            )
            _ = try await storage.client.send(request)
        }
        #expect(try await one.removeUnfinished(before: .now - 3_600) == 0)
        #expect(try await uploads(one) == 1)
        #expect(try await uploads(one) == 0)
        #expect(try await uploads(other) == 1)
    }
}
