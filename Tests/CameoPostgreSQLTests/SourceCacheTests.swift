import CameoHTTPCache
import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

@Suite(.serialized, .timeLimit(.minutes(10)))
struct SourceCacheTests {
    private static let key = SourceKey(uri: StoreFixture.uri, scope: nil)
    private static let failure = JobFailure(.sourceNotFound, at: .fetch, "404", isRetryable: false)

    @Test func answerComesBackAsItWasKept() async throws {
        let fixture = try await StoreFixture()
        let bytes = StoreFixture.bytes("a", 150_000)
        let source = StoreFixture.original(bytes)
        #expect(try await fixture.store.keep(source, data: bytes, budget: nil) == .kept)
        #expect(try await fixture.store.cachedSources(Self.key) == [source])
        #expect(try await fixture.store.data(of: .source(StoreFixture.uri)) == bytes)
        #expect(try await fixture.anotherStore().cachedSource(StoreFixture.uri).textEncoding == "utf-8")
    }

    @Test func answersForDifferentCredentialsAreKeptApart() async throws {
        let fixture = try await StoreFixture()
        let (ann, bob) = (StoreFixture.scope("ann"), StoreFixture.scope("bob"))
        try await fixture.keep("a", uri: StoreFixture.uri, scope: ann)
        #expect(try await fixture.store.cachedSources(SourceKey(uri: StoreFixture.uri, scope: bob)) == [])
        #expect(try await fixture.store.cachedSources(Self.key) == [])
        try await fixture.keep("b", uri: StoreFixture.uri, scope: bob)
        let found = try await fixture.store.cachedSources(SourceKey(uri: StoreFixture.uri, scope: ann))
        #expect(found.map(\.blob) == [SHA256.digest(of: StoreFixture.bytes("a"))])
    }

    @Test func privateOriginalHasNoPublicName() async throws {
        let fixture = try await StoreFixture()
        try await fixture.keep("a", uri: StoreFixture.uri, scope: StoreFixture.scope("ann"))
        let uri = CameoURI.source(StoreFixture.uri)
        await #expect(throws: StoreError.notFound(uri: uri.text)) { try await fixture.store.data(of: uri) }
        await #expect(throws: StoreError.notFound(uri: uri.text)) {
            try await fixture.store.cachedSource(StoreFixture.uri)
        }
    }

    @Test func variantsAreKeptSideBySideNewestFirst() async throws {
        let fixture = try await StoreFixture()
        try await fixture.keep("a", uri: StoreFixture.uri, variant: "accept=a", seen: 1)
        try await fixture.keep("b", uri: StoreFixture.uri, variant: "accept=b", seen: 2)
        #expect(try await fixture.store.cachedSources(Self.key).map(\.variant) == ["accept=b", "accept=a"])
        #expect(try await fixture.store.data(of: .source(StoreFixture.uri)) == StoreFixture.bytes("b"))
    }

    @Test func variantsOfOneSourceAreLimited() async throws {
        let fixture = try await StoreFixture()
        for seen in 1...20 { try await fixture.keep("a", uri: StoreFixture.uri, variant: "\(seen)", seen: Int64(seen)) }
        #expect(try await fixture.store.cachedSources(Self.key).map(\.sourceSeen) == (5...20).reversed())
    }

    @Test(arguments: [(1, 2, "b"), (2, 1, "a"), (2, 2, "b")] as [(Int64, Int64, Character)])
    func olderFetchNeverReplacesANewer(first: Int64, second: Int64, stands: Character) async throws {
        let fixture = try await StoreFixture()
        try await fixture.keep("a", uri: StoreFixture.uri, seen: first)
        let kept = try await fixture.keep("b", uri: StoreFixture.uri, seen: second)
        #expect(kept == (stands == "b" ? .kept : .superseded))
        #expect(try await fixture.store.data(of: .source(StoreFixture.uri)) == StoreFixture.bytes(stands))
    }

    @Test(arguments: [(1, true), (2, true), (0, false)] as [(Int64, Bool)])
    func revalidationChangesTheHeadUnlessItIsOlder(seen: Int64, isWritten: Bool) async throws {
        let fixture = try await StoreFixture()
        let bytes = StoreFixture.bytes("a")
        try await fixture.store.keep(StoreFixture.original(bytes, seen: 1), data: bytes, budget: nil)
        let fresh = StoreFixture.original(bytes, seen: seen, etag: "\"2\"")
        #expect(try await fixture.store.freshen(fresh) == isWritten)
        let found = try await fixture.store.cachedSource(StoreFixture.uri)
        #expect(found.head.fields.lines[0].value == (isWritten ? "\"2\"" : "\"1\""))
        #expect(found.sourceSeen == max(seen, 1))
    }

    @Test func revalidationOfOtherBytesChangesNothing() async throws {
        let fixture = try await StoreFixture()
        try await fixture.keep("a", uri: StoreFixture.uri, seen: 1)
        #expect(try await !fixture.store.freshen(StoreFixture.original(StoreFixture.bytes("b"), seen: 2)))
        try await fixture.store.dropCachedSource(StoreFixture.original(StoreFixture.bytes("b"), seen: 2))
        #expect(try await fixture.store.data(of: .source(StoreFixture.uri)) == StoreFixture.bytes("a"))
        try await fixture.store.dropCachedSource(StoreFixture.original(StoreFixture.bytes("a"), seen: 1))
        #expect(try await fixture.store.cachedSources(Self.key) == [])
    }

    @Test func leastRecentlyUsedIsEvictedFirst() async throws {
        let fixture = try await StoreFixture()
        for letter in "abc" {
            try await fixture.keep(letter, budget: 30)
            fixture.clock.advance(seconds: 61)
        }
        try await fixture.store.touch(try await fixture.store.cachedSource("https://example.com/a"))
        try await fixture.keep("d", budget: 30)
        #expect(try await fixture.keptLetters(of: "abcd") == "acd")
        let status = try await fixture.store.status().sources
        #expect(status == StatusReport.Sources(count: 3, bytes: 30, evicted: 1, evictedBytes: 10))
    }

    @Test func useIsWrittenOnceAMinute() async throws {
        let fixture = try await StoreFixture()
        try await fixture.keep("a")
        let source = try await fixture.store.cachedSource("https://example.com/a")
        let before = try await fixture.sql("SELECT last_used_at FROM source")
        fixture.clock.advance(seconds: 59)
        try await fixture.store.touch(source)
        #expect(try await fixture.sql("SELECT last_used_at FROM source") == before)
        fixture.clock.advance(seconds: 2)
        try await fixture.store.touch(source)
        #expect(try await fixture.sql("SELECT last_used_at FROM source") != before)
    }

    /// This holds even if all were used in the same millisecond.
    @Test func aJustKeptAnswerIsNotEvicted() async throws {
        let fixture = try await StoreFixture()
        for letter in "ab" { try await fixture.keep(letter, budget: 30) }
        #expect(try await fixture.keep("a", count: 25, seen: 2, budget: 30) == .kept)
        #expect(try await fixture.keptLetters(of: "ab") == "a")
    }

    @Test func evictionGoesInSmallSteps() async throws {
        let fixture = try await StoreFixture()
        let letters = "abcdefghijklmnopqrstuvwxyz"
        for letter in letters {
            try await fixture.keep(letter)
            fixture.clock.advance(seconds: 1)
        }
        try await fixture.keep("A", budget: 10)
        #expect(try await fixture.keptLetters(of: letters) == "qrstuvwxyz")
        let first = try await fixture.store.evictSources(over: 15, atMost: 4)
        #expect((first.count, first.bytes, first.isWithinBudget) == (4, 40, false))
        while try await !fixture.store.evictSources(over: 15, atMost: 4).isWithinBudget {}
        #expect(try await fixture.keptLetters(of: letters + "A") == "A")
    }

    @Test func answerLargerThanTheBudgetIsNotKept() async throws {
        let fixture = try await StoreFixture()
        try await fixture.keep("a", budget: 10)
        #expect(try await fixture.keep("b", count: 11, budget: 10) == .tooLarge)
        #expect(try await fixture.keptLetters(of: "ab") == "a")
    }

    @Test func pinnedOriginalIsNeitherCountedNorEvicted() async throws {
        let fixture = try await StoreFixture()
        #expect(try await fixture.keep("p", count: 1_000, isPinned: true, budget: 10) == .kept)
        fixture.clock.advance(seconds: 1)
        try await fixture.keep("a", budget: 10)
        fixture.clock.advance(seconds: 1)
        try await fixture.keep("b", budget: 10)
        #expect(try await fixture.keptLetters(of: "pab") == "pb")
        #expect(try await fixture.store.evictSources(over: 0, atMost: 16).isWithinBudget)
        #expect(try await fixture.keptLetters(of: "pab") == "p")
        #expect(try await fixture.store.status().sources.count == 0)
    }

    /// A 304 says that the bytes are unchanged, not where they came from.
    @Test func peersAreKeptWithTheBytes() async throws {
        let fixture = try await StoreFixture()
        try await fixture.keep("a", uri: StoreFixture.uri)
        let kept = try #require(try await fixture.store.cachedSources(Self.key).first)
        #expect(kept.peers.map(\.connection) == [.address("8.8.8.8"), .proxy, .program])
        var fields = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(kept.peers[0])) as? [String: String]
        )
        #expect(fields.removeValue(forKey: "via") == "8.8.8.8" && fields == ["origin": "https://example.com:443"])
        #expect(try await fixture.store.freshen(StoreFixture.original(StoreFixture.bytes("a"), seen: 2, peers: [])))
        #expect(try await fixture.store.cachedSources(Self.key).map(\.peers) == [kept.peers])
    }

    @Test func anAnswerWithoutPeersIsNotKept() async throws {
        let fixture = try await StoreFixture()
        await #expect(throws: StoreError.self) {
            try await fixture.store.keep(
                StoreFixture.original(StoreFixture.bytes("a"), peers: []),
                data: StoreFixture.bytes("a"),
                budget: nil
            )
        }
    }

    @Test func failureIsRememberedUntilItsTimeOrAnAnswer() async throws {
        let fixture = try await StoreFixture()
        let (now, store) = (Date(timeIntervalSince1970: 1_900_000_000), fixture.store)
        try await store.remember(Self.failure, of: Self.key, until: now + 60, seen: 2, peers: [])
        #expect(try await store.rememberedFailure(of: Self.key)?.failure == Self.failure)
        let other = SourceKey(uri: StoreFixture.uri, scope: StoreFixture.scope("ann"))
        #expect(try await store.rememberedFailure(of: other) == nil)
        fixture.clock.advance(seconds: 60)
        #expect(try await store.rememberedFailure(of: Self.key) == nil)
        try await store.remember(Self.failure, of: Self.key, until: now + 120, seen: 3, peers: [])
        // An answer of an older fetch does not remove it.
        try await fixture.keep("a", uri: StoreFixture.uri, seen: 2)
        #expect(try await store.rememberedFailure(of: Self.key) != nil)
        try await fixture.keep("b", uri: StoreFixture.uri, seen: 4)
        #expect(try await store.rememberedFailure(of: Self.key) == nil)
        try await store.remember(Self.failure, of: Self.key, until: now + 120, seen: 3, peers: [])
        #expect(try await store.rememberedFailure(of: Self.key) == nil)
    }

    @Test func failureOfAnOlderFetchDoesNotReplaceThatOfANewer() async throws {
        let (fixture, older) = (try await StoreFixture(), JobFailure(.sourceTimeout, at: .fetch, "slow"))
        let until = fixture.clock.now + 60
        try await fixture.store.remember(Self.failure, of: Self.key, until: until, seen: 3, peers: [])
        try await fixture.store.remember(older, of: Self.key, until: until + 60, seen: 2, peers: [])
        #expect(try await fixture.store.rememberedFailure(of: Self.key)?.failure == Self.failure)
    }

    @Test func forgettingCoversAllCredentialsAndVariants() async throws {
        let fixture = try await StoreFixture()
        try await fixture.keep("a", uri: StoreFixture.uri)
        try await fixture.keep("b", uri: StoreFixture.uri, scope: StoreFixture.scope("ann"), variant: "v")
        try await fixture.keep("p", uri: StoreFixture.uri, variant: "pinned", isPinned: true)
        try await fixture.keep("c")
        let until = Date(timeIntervalSince1970: 1_900_000_060)
        try await fixture.store.remember(Self.failure, of: Self.key, until: until, seen: 9, peers: [])
        let forgotten = try await fixture.store.forgetSource(StoreFixture.uri, .originals)
        #expect((forgotten.originals, forgotten.failures, forgotten.bytes) == (3, 1, 30))
        #expect(try await fixture.store.cachedSources(Self.key) == [])
        #expect(try await fixture.store.rememberedFailure(of: Self.key) == nil)
        #expect(try await fixture.keptLetters(of: "c") == "c")
        #expect(try await fixture.store.forgetSource(StoreFixture.uri, .originals).isNothing)
    }

    @Test(arguments: [ForgottenExtent.originals, .originalsAndThumbnails])
    func thumbnailsAreForgottenOnlyIfAsked(extent: ForgottenExtent) async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.store.enqueue([StoreFixture.request()])
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        let rendered = try StoreFixture.rendered(job)
        try await fixture.store.complete(job)
        let forgotten = try await fixture.store.forgetSource("file:///pictures/a.jpg", extent)
        let uri = CameoURI.thumbnail(rendered[0].id)
        switch extent {
        case .originals:
            #expect(forgotten.isNothing)
            #expect(try await fixture.store.data(of: uri) == Data("thumbnail".utf8))
        case .originalsAndThumbnails:
            #expect(forgotten.thumbnails == 1)
            await #expect(throws: StoreError.notFound(uri: uri.text)) { try await fixture.store.data(of: uri) }
        }
    }

    @Test func countersAgreeAfterAllOperations() async throws {
        let fixture = try await StoreFixture()
        try await fixture.keep("a", seen: 1)
        try await fixture.keep("b", count: 30, uri: "https://example.com/a", seen: 2)
        #expect(try await fixture.store.status().sources.bytes == 30)
        try await fixture.keep("c", isPinned: true)
        try await fixture.keep("c", count: 7, seen: 2)
        try await fixture.keep("d", budget: 20)
        _ = try await fixture.store.forgetSource("https://example.com/d", .originals)
        let status = try await fixture.store.status().sources
        #expect(status == StatusReport.Sources(count: 1, bytes: 7, evicted: 1, evictedBytes: 30))
    }

    /// An entry of an index holds less than three kilobytes.
    @Test func longNamesAreKeptApart() async throws {
        let fixture = try await StoreFixture()
        let long =
            "https://example.com/" + String((0..<7_000).map { _ in "abcdefghij0123456789-_".randomElement() ?? "a" })
        for (number, letter) in "ab".enumerated() {
            try await fixture.keep(letter, uri: "\(long)\(number)", variant: "accept=\(long)")
            let key = SourceKey(uri: "\(long)\(number)", scope: nil)
            let until = fixture.clock.now + 60
            try await fixture.store.remember(Self.failure, of: key, until: until, seen: 9, peers: [])
            #expect(
                try await fixture.store.cachedSources(key).map(\.blob) == [
                    SHA256.digest(of: StoreFixture.bytes(letter))
                ]
            )
            #expect(try await fixture.store.rememberedFailure(of: key)?.failure == Self.failure)
        }
        #expect(try await fixture.store.forgetSource("\(long)0", .originals).originals == 1)
        #expect(try await fixture.store.cachedSource("\(long)1").bytes == 10)
    }

    /// Whichever of two workers commits last.
    @Test func ofManyConcurrentAnswersTheNewestStays() async throws {
        let fixture = try await StoreFixture()
        let stores = try (0..<3).map { _ in try fixture.anotherStore() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seen in (1...30).shuffled() {
                group.addTask {
                    let bytes = Data("\(seen)".utf8)
                    try await stores[seen % 3].keep(
                        StoreFixture.original(bytes, seen: Int64(seen)),
                        data: bytes,
                        budget: 50
                    )
                }
            }
            try await group.waitForAll()
        }
        #expect(try await fixture.store.data(of: .source(StoreFixture.uri)) == Data("30".utf8))
        let status = try await fixture.store.status().sources
        #expect((status.count, status.bytes) == (1, 2))
    }
}
