import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoObjectStorage

/// Listings of a server that passes over many removed keys, and ends a page before it finds one.
@Suite(.objectServers(.swift), .serialized, .timeLimit(.minutes(5)))
struct EmptyPageTests {
    private let server: ObjectServer
    private let proxy: FaultyProxy

    init() async throws {
        server = try CameoObjectStorageTests.server()
        proxy = try await FaultyProxy.start(before: server.port)
    }

    private func page(_ keys: [String], token: String?) -> FaultyProxy.Fault {
        let contents = keys.map {
            "<Contents><Key>\($0)</Key><Size>1</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>"
        }
        let next = token.map { "<NextContinuationToken>\($0)</NextContinuationToken><IsTruncated>true</IsTruncated>" }
        return .body("<ListBucketResult>\(contents.joined())\(next ?? "")</ListBucketResult>").times(1, "GET")
    }

    @Test func aPageWithoutKeysThatGoesOnIsFollowedByItsToken() async throws {
        let storage = try server.storage(through: proxy)
        let root = storage.root
        let found = BlobDigest(of: Data("one".utf8))
        for page in [page([], token: "t+1/="), page([], token: "t2"), page([root + found.path], token: "t3")] {
            try await proxy.add(page)
        }
        let listed = try await storage.list(after: "00/a", limit: 10)
        #expect(listed.objects.map(\.digest) == [found])
        #expect(listed.next == found.path, "the cursor is the key")
        let requests = try await proxy.requests()
        #expect(requests.map { $0.contains("start-after=") } == [true, false, false])
        #expect(requests.map { $0.contains("continuation-token=t%2B1%2F%3D") } == [false, true, false])
    }

    @Test func emptyPagesUpToTheEndAreAnEmptyListing() async throws {
        let storage = try server.storage(through: proxy)
        for page in [page([], token: "t1"), page([], token: nil)] { try await proxy.add(page) }
        #expect(try await storage.list(after: nil, limit: 10) == StoredObjectPage())
    }

    @Test func aTokenThatComesAgainEndsTheListing() async throws {
        let storage = try server.storage(through: proxy)
        for token in ["t1", "t2", "t1"] { try await proxy.add(page([], token: token)) }
        await #expect(throws: StoreError.failed("\(storage.location): a listing has no end")) {
            try await storage.list(after: nil, limit: 10)
        }
    }

    @Test func aListingOfUploadsGoesOnAfterPagesWithoutUploads() async throws {
        let storage = try server.storage(through: proxy)
        for key in ["a", "b"] {
            let marker = "<NextKeyMarker>\(key)</NextKeyMarker><IsTruncated>true</IsTruncated>"
            try await proxy.add(
                .body("<ListMultipartUploadsResult>\(marker)</ListMultipartUploadsResult>").times(1, "GET")
            )
        }
        #expect(try await storage.removeUnfinished(before: .now) == 0)
    }
}
