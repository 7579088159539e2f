import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoObjectStorage

/// What stands between a program and a real server, and answers with other bytes than are stored.
@Suite(.objectServers(.swift, .juicefs), .serialized, .timeLimit(.minutes(5)))
struct ReplacedBytesTests {
    private let server: ObjectServer
    private let proxy: FaultyProxy
    private let storage: ObjectStorage
    private let data: Data
    private var digest: BlobDigest { BlobDigest(of: data) }

    init() async throws {
        data = try bytes(20_000)
        server = try CameoObjectStorageTests.server()
        proxy = try await FaultyProxy.start(before: server.port)
        storage = try server.storage(through: proxy)
        _ = try await storage.put(data)
    }

    private func unreadable(_ body: () async throws -> Void) async throws -> String {
        let error = await #expect(throws: StoreError.self) { try await body() }
        guard case .unreadableBlob(let path, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return ""
        }
        #expect(path == "\(storage.location)/\(digest.path)")
        return reason
    }

    /// Proxies rewrite the header, so that a signature of it would be refused.
    @Test func everyRequestAsksForBytesAsTheyAreAndDoesNotSignThat() async throws {
        _ = try await storage.data(of: digest, size: data.count)
        _ = try await storage.list(after: nil, limit: 10)
        try await storage.remove(digest)
        let sent = try await proxy.sent()
        #expect(sent.map(\.method) == ["PUT", "GET", "GET", "DELETE"])
        for request in sent {
            #expect(request.headers["accept-encoding"] == "identity")
            #expect(request.headers["authorization"]?.contains("accept-encoding") == false)
        }
    }

    private static let codings: [FaultyProxy.Fault] = [
        .coded("gzip"), .coded("deflate"), .coded("gzip", "deflate"), .coded("deflate", "gzip", "gzip"),
        .coded("x-gzip"), .coded("aws-chunked"), .coded("identity"),
    ]

    /// The last ones are wrong names of bytes that are as they are.
    @Test(arguments: codings, [false, true])
    func aCodingThatNobodyAskedForIsDecoded(coded: FaultyProxy.Fault, large: Bool) async throws {
        let storage = try server.storage(storage.client.name.prefix, through: proxy) {
            $0.largestInMemory = large ? 0 : 1_000_000
        }
        try await proxy.add(coded.times(3, "GET"))
        #expect(try await storage.bytes(of: digest, size: data.count).read() == (data, large))
    }

    @Test func codedListingsMarksAndErrorsAreRead() async throws {
        try await storage.setOwner("me", existing: .replaced)
        try await proxy.add(.coded("gzip").times(2, "GET"))
        #expect(try await storage.list(after: nil, limit: 10).objects.map(\.digest) == [digest])
        #expect(try await storage.owner() == "me")
    }

    @Test func decodedBytesCountAgainstTheLimit() async throws {
        let zeros = Data(repeating: 0, count: 10_000_000)
        _ = try await storage.put(zeros)
        let digest = BlobDigest(of: zeros)
        try await proxy.add(.coded("gzip").times(1, "GET"))
        await #expect(throws: StoreError.damagedBlob(digest: digest.description)) {
            try await storage.data(of: digest, size: 20_000)
        }
    }

    @Test func aRangeOfWhatIsCodedIsNotTakenForARangeOfTheBytes() async throws {
        try await proxy.add(.coded("gzip").times(1, "GET"))
        let coded = try await unreadable { _ = try await storage.data(of: digest, range: 5..<90, size: data.count) }
        #expect(coded.contains("a part of what is coded as gzip came in their place (status 206"), "\(coded)")
        #expect(try await storage.data(of: digest, range: 5..<90, size: data.count) == data[5..<90])
    }

    @Test func ignoredRangesAreNamed() async throws {
        let text = String(repeating: "as it is ", count: 1_000)
        let (data, digest) = (Data(text.utf8), BlobDigest(of: Data(text.utf8)))
        _ = try await storage.put(data)
        for range in [5..<90, 0..<8_999] {
            try await proxy.add(.body(text).times(1, "GET"))
            let error = await #expect(throws: StoreError.self) {
                try await storage.data(of: digest, range: range, size: 9_000)
            }
            #expect(error?.description.contains("the whole, as if no range were asked for,") == true)
        }
        try await proxy.add(.body(text).times(1, "GET"))
        #expect(try await storage.data(of: digest, range: 0..<9_000, size: 9_000) == data)
    }

    private static let replacements: [(FaultyProxy.Fault, String)] = [
        (.body("<html>sign in</html>", headers: ["Content-Type": "text/html; charset=utf-8"]), "an HTML page"),
        (.body(String(repeating: "x", count: 90_000), headers: ["Content-Type": "text/html"]), "an HTML page"),
        (.body("smaller", headers: ["Warning": "214 - \"Transformation Applied\""]), "warning: 214"),
        (.body("smaller", headers: ["Content-Type": "image/avif", "Via": "1.1 pixels"]), "via: 1.1 pixels"),
        (.body(String(repeating: "x", count: 90_000)), "other bytes, as of a proxy that transforms pictures,"),
        (.body(""), "other bytes"),
    ]

    @Test(arguments: replacements, ["whole", "file", "parts"])
    func whatCameInPlaceOfTheBytesIsNamed(replacement: (FaultyProxy.Fault, String), way: String) async throws {
        let storage = try server.storage(storage.client.name.prefix, through: proxy) { $0.largestInMemory = 0 }
        try await proxy.add(replacement.0.times(1, "GET", containing: digest.path))
        let reason = try await unreadable {
            switch way {
            case "whole": _ = try await storage.data(of: digest, size: data.count)
            case "file": _ = try await storage.bytes(of: digest, size: data.count)
            default: _ = try await storage.dataInParts(of: digest, size: data.count)
            }
        }
        let isWhole = way == "parts" && replacement.1.hasPrefix("other bytes")
        let name = isWhole ? "the whole, as if no range were asked for," : replacement.1
        #expect(reason.hasPrefix("its 20000 bytes are stored, and ") && reason.contains(name), "\(reason)")
        #expect(try await storage.data(of: digest, size: data.count) == data)
    }

    /// As of a real server, whose listing says so too.
    @Test func bytesOfAnotherLengthAreDamagedIfTheyAreStoredSo() async throws {
        try await storage.damage(digest, with: Data("<html>".utf8), mediaType: "text/html")
        let damaged = StoreError.damagedBlob(digest: digest.description)
        await #expect(throws: damaged) { try await storage.data(of: digest, size: data.count) }
        await #expect(throws: damaged) { try await storage.dataInParts(of: digest, size: data.count) }
        await #expect(throws: damaged) { try await storage.bytes(of: digest, size: 7) }
    }

    @Test func theOtherWayReadsPartsOverNewConnections() async throws {
        _ = try await storage.data(of: digest, size: data.count)
        let before = try await proxy.connections()
        #expect(try await storage.dataInParts(of: digest, size: data.count) == data)
        #expect(try await proxy.connections() == before + 2)
        #expect(try await proxy.sent().suffix(2).map { $0.headers["range"] } == ["bytes=0-9999", "bytes=10000-19999"])
        for count in [0, 1, 2] {
            let data = try bytes(count)
            _ = try await storage.put(data)
            #expect(try await storage.dataInParts(of: BlobDigest(of: data), size: count) == data)
        }
    }

    @Test(arguments: [302, 303, 307])
    func aLoginPageElsewhereIsNamed(status: Int) async throws {
        let headers = ["Location": "https://login.example/?next=secret"]
        try await proxy.add(.answer(status, "Found", headers: headers).times(1, "GET"))
        let reason = try await trouble("denied", of: storage) { try await storage.data(of: digest, size: data.count) }
        #expect(reason.hasSuffix("; it leads to login.example"))
    }

    @Test func aPageIsNeitherAListingNorAMark() async throws {
        let page = FaultyProxy.Fault.body("<html>sign in</html>", headers: ["Content-Type": "text/html"])
        try await proxy.add(page.times(2, "GET"))
        let listing = await #expect(throws: StoreError.self) { try await storage.list(after: nil, limit: 10) }
        let mark = await #expect(throws: StoreError.self) { try await storage.owner() }
        for error in [listing, mark] {
            #expect(error?.description.hasSuffix("cannot be read: an HTML page came in its place") == true)
        }
    }
}
