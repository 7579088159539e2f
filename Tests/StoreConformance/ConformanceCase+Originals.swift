import CameoHTTPCache
import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    static let originals: [ConformanceCase] = [
        ConformanceCase("an answer comes back as it was kept") { fixture async throws in
            let bytes = Fixture.bytes("a", 150_000)
            let source = Fixture.original(bytes)
            #expect(try await fixture.store.keep(source, data: bytes, budget: nil) == .kept)
            #expect(try await fixture.store.cachedSources(Self.key) == [source])
            #expect(try await fixture.store.data(of: .source(Fixture.uri)) == bytes)
            #expect(try await fixture.another().cachedSource(Fixture.uri).textEncoding == "utf-8")
        },
        ConformanceCase("answers for different credentials are kept apart") { fixture in
            let (ann, bob) = (Fixture.scope("ann"), Fixture.scope("bob"))
            try await fixture.keep("a", uri: Fixture.uri, scope: ann)
            #expect(try await fixture.store.cachedSources(SourceKey(uri: Fixture.uri, scope: bob)) == [])
            #expect(try await fixture.store.cachedSources(Self.key) == [])
            try await fixture.keep("b", uri: Fixture.uri, scope: bob)
            let found = try await fixture.store.cachedSources(SourceKey(uri: Fixture.uri, scope: ann))
            #expect(found.map(\.blob) == [BlobDigest(of: Fixture.bytes("a"))])
        },
        ConformanceCase("a private original has no public name") { fixture in
            try await fixture.keep("a", uri: Fixture.uri, scope: Fixture.scope("ann"))
            let uri = CameoURI.source(Fixture.uri)
            await #expect(throws: StoreError.notFound(uri: uri.text)) { try await fixture.store.data(of: uri) }
            await #expect(throws: StoreError.notFound(uri: uri.text)) {
                try await fixture.store.cachedSource(Fixture.uri)
            }
        },
        ConformanceCase("variants are kept side by side newest first") { fixture in
            try await fixture.keep("a", uri: Fixture.uri, variant: "accept=a", seen: 1)
            try await fixture.keep("b", uri: Fixture.uri, variant: "accept=b", seen: 2)
            #expect(try await fixture.store.cachedSources(Self.key).map(\.variant) == ["accept=b", "accept=a"])
            #expect(try await fixture.store.data(of: .source(Fixture.uri)) == Fixture.bytes("b"))
        },
        ConformanceCase("variants of one source are limited") { fixture in
            for seen in 1...20 {
                try await fixture.keep("a", uri: Fixture.uri, variant: "\(seen)", seen: Int64(seen))
            }
            #expect(try await fixture.store.cachedSources(Self.key).map(\.sourceSeen) == (5...20).reversed())
        },
        ConformanceCase("a revalidation of other bytes changes nothing") { fixture in
            try await fixture.keep("a", uri: Fixture.uri, seen: 1)
            #expect(try await !fixture.store.freshen(Fixture.original(Fixture.bytes("b"), seen: 2)))
            try await fixture.store.dropCachedSource(Fixture.original(Fixture.bytes("b"), seen: 2))
            #expect(try await fixture.store.data(of: .source(Fixture.uri)) == Fixture.bytes("a"))
            try await fixture.store.dropCachedSource(Fixture.original(Fixture.bytes("a"), seen: 1))
            #expect(try await fixture.store.cachedSources(Self.key) == [])
        },
        ConformanceCase("the least recently used is evicted first") { fixture in
            for letter in "abc" {
                try await fixture.keep(letter, budget: 30)
                fixture.clock.advance(seconds: 61)
            }
            try await fixture.store.touch(try await fixture.store.cachedSource("https://example.com/a"))
            try await fixture.keep("d", budget: 30)
            #expect(try await fixture.keptLetters(of: "abcd") == "acd")
            let status = try await fixture.store.status().sources
            #expect(status == StatusReport.Sources(count: 3, bytes: 30, evicted: 1, evictedBytes: 10))
        },
        ConformanceCase("a use is written once a minute") { fixture in
            try await fixture.keep("a")
            let source = try await fixture.store.cachedSource("https://example.com/a")
            let before = try await fixture.sql("SELECT last_used_at FROM source")
            fixture.clock.advance(seconds: 59)
            try await fixture.store.touch(source)
            #expect(try await fixture.sql("SELECT last_used_at FROM source") == before)
            fixture.clock.advance(seconds: 2)
            try await fixture.store.touch(source)
            #expect(try await fixture.sql("SELECT last_used_at FROM source") != before)
        },
        ConformanceCase("a just kept answer is not evicted") { fixture in
            // This holds even if all were used in the same millisecond.
            for letter in "ab" { try await fixture.keep(letter, budget: 30) }
            #expect(try await fixture.keep("a", count: 25, seen: 2, budget: 30) == .kept)
            #expect(try await fixture.keptLetters(of: "ab") == "a")
        },
        ConformanceCase("eviction goes in small steps") { fixture in
            let letters = "abcdefghijklmnopqrstuvwxyz"
            for letter in letters {
                try await fixture.keep(letter)
                fixture.clock.advance(seconds: 1)
            }
            try await fixture.keep("A", budget: 10)
            #expect(try await fixture.keptLetters(of: letters) == "qrstuvwxyz")
            #expect(try await !fixture.store.evictSources(over: 15, atMost: 4))
            #expect(try await fixture.keptLetters(of: letters) == "uvwxyz")
            while try await !fixture.store.evictSources(over: 15, atMost: 4) { try Task.checkCancellation() }
            #expect(try await fixture.keptLetters(of: letters + "A") == "A")
        },
        ConformanceCase("an answer larger than the budget is not kept") { fixture in
            try await fixture.keep("a", budget: 10)
            #expect(try await fixture.keep("b", count: 11, budget: 10) == .tooLarge)
            #expect(try await fixture.keptLetters(of: "ab") == "a")
        },
        ConformanceCase("a pinned original is neither counted nor evicted") { fixture in
            #expect(try await fixture.keep("p", count: 1_000, isPinned: true, budget: 10) == .kept)
            fixture.clock.advance(seconds: 1)
            try await fixture.keep("a", budget: 10)
            fixture.clock.advance(seconds: 1)
            try await fixture.keep("b", budget: 10)
            #expect(try await fixture.keptLetters(of: "pab") == "pb")
            #expect(try await fixture.store.evictSources(over: 0, atMost: 16))
            #expect(try await fixture.keptLetters(of: "pab") == "p")
            #expect(try await fixture.store.status().sources.count == 0)
        },
        ConformanceCase("peers are kept with the bytes") { fixture in
            // A 304 says that the bytes are unchanged, not where they came from.
            try await fixture.keep("a", uri: Fixture.uri)
            let kept = try #require(try await fixture.store.cachedSources(Self.key).first)
            try #require(kept.peers.map(\.connection) == [.address("8.8.8.8"), .proxy, .program])
            var fields = try #require(
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(kept.peers[0])) as? [String: String]
            )
            #expect(fields.removeValue(forKey: "via") == "8.8.8.8")
            #expect(fields == ["origin": "https://example.com:443"])
            #expect(try await fixture.store.freshen(Fixture.original(Fixture.bytes("a"), seen: 2, peers: [])))
            #expect(try await fixture.store.cachedSources(Self.key).map(\.peers) == [kept.peers])
        },
        ConformanceCase("an answer without peers is not kept") { fixture async throws in
            await #expect(throws: StoreError.self) {
                try await fixture.store.keep(
                    Fixture.original(Fixture.bytes("a"), peers: []),
                    data: Fixture.bytes("a"),
                    budget: nil
                )
            }
        },
        ConformanceCase("a failure is remembered until its time or an answer") { fixture in
            let now = fixture.clock.now
            try await fixture.store.remember(Self.failure, of: Self.key, until: now + 60, seen: 2, peers: Fixture.peers)
            let remembered = try await fixture.store.rememberedFailure(of: Self.key)
            #expect(remembered?.failure == Self.failure && remembered?.peers == Fixture.peers)
            let other = SourceKey(uri: Fixture.uri, scope: Fixture.scope("ann"))
            #expect(try await fixture.store.rememberedFailure(of: other) == nil)
            fixture.clock.advance(seconds: 60)
            #expect(try await fixture.store.rememberedFailure(of: Self.key) == nil)
            try await fixture.store.remember(Self.failure, of: Self.key, until: now + 120, seen: 3, peers: [])
            // An answer of an older fetch does not remove it.
            try await fixture.keep("a", uri: Fixture.uri, seen: 2)
            #expect(try await fixture.store.rememberedFailure(of: Self.key) != nil)
            try await fixture.keep("b", uri: Fixture.uri, seen: 4)
            #expect(try await fixture.store.rememberedFailure(of: Self.key) == nil)
            try await fixture.store.remember(Self.failure, of: Self.key, until: now + 120, seen: 3, peers: [])
            #expect(try await fixture.store.rememberedFailure(of: Self.key) == nil)
        },
        ConformanceCase("a failure of an older fetch does not replace that of a newer") { fixture in
            let older = JobFailure(.sourceTimeout, at: .fetch, "slow")
            let until = fixture.clock.now + 60
            try await fixture.store.remember(Self.failure, of: Self.key, until: until, seen: 3, peers: [])
            try await fixture.store.remember(older, of: Self.key, until: until + 60, seen: 2, peers: [])
            #expect(try await fixture.store.rememberedFailure(of: Self.key)?.failure == Self.failure)
        },
        ConformanceCase("forgetting covers all credentials and variants") { fixture in
            try await fixture.keep("a", uri: Fixture.uri)
            try await fixture.keep("b", uri: Fixture.uri, scope: Fixture.scope("ann"), variant: "v")
            try await fixture.keep("p", uri: Fixture.uri, variant: "pinned", isPinned: true)
            try await fixture.keep("c")
            let until = Date(timeIntervalSince1970: 1_900_000_060)
            try await fixture.store.remember(Self.failure, of: Self.key, until: until, seen: 9, peers: [])
            let forgotten = try await fixture.store.forgetSource(Fixture.uri, .originals)
            #expect((forgotten.originals, forgotten.failures, forgotten.bytes) == (3, 1, 30))
            #expect(try await fixture.store.cachedSources(Self.key) == [])
            #expect(try await fixture.store.rememberedFailure(of: Self.key) == nil)
            #expect(try await fixture.keptLetters(of: "c") == "c")
            #expect(try await fixture.store.forgetSource(Fixture.uri, .originals).isNothing)
            // The original is forgotten by its own name too.
            try await fixture.keep("u", uri: "user:42/avatar", isPinned: true)
            let original = CameoURI.source("user:42/avatar").text
            #expect(try await fixture.store.forgetSource(original, .originals).originals == 1)
        },
        ConformanceCase("counters agree after all operations") { fixture in
            try await fixture.keep("a", seen: 1)
            try await fixture.keep("b", count: 30, uri: "https://example.com/a", seen: 2)
            #expect(try await fixture.store.status().sources.bytes == 30)
            try await fixture.keep("c", isPinned: true)
            try await fixture.keep("c", count: 7, seen: 2)
            try await fixture.keep("d", budget: 20)
            _ = try await fixture.store.forgetSource("https://example.com/d", .originals)
            let status = try await fixture.store.status().sources
            #expect(status == StatusReport.Sources(count: 1, bytes: 7, evicted: 1, evictedBytes: 30))
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("long names are kept apart") { fixture in
            // An entry of an index holds less than three kilobytes.
            let long =
                "https://example.com/"
                + String((0..<7_000).map { _ in "abcdefghij0123456789-_".randomElement() ?? "a" })
            for (number, letter) in "ab".enumerated() {
                try await fixture.keep(letter, uri: "\(long)\(number)", variant: "accept=\(long)")
                let key = SourceKey(uri: "\(long)\(number)", scope: nil)
                let until = fixture.clock.now + 60
                try await fixture.store.remember(Self.failure, of: key, until: until, seen: 9, peers: [])
                #expect(
                    try await fixture.store.cachedSources(key).map(\.blob) == [
                        BlobDigest(of: Fixture.bytes(letter))
                    ]
                )
                #expect(try await fixture.store.rememberedFailure(of: key)?.failure == Self.failure)
            }
            #expect(try await fixture.store.forgetSource("\(long)0", .originals).originals == 1)
            #expect(try await fixture.store.cachedSource("\(long)1").bytes == 10)
        },
        ConformanceCase("of many concurrent answers the newest stays") { fixture in
            // Whichever of two workers commits last.
            let stores = try await fixture.others(3)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seen in (1...30).shuffled() {
                    group.addTask {
                        let bytes = Data("\(seen)".utf8)
                        try await stores[seen % 3].keep(
                            Fixture.original(bytes, seen: Int64(seen)),
                            data: bytes,
                            budget: 50
                        )
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await fixture.store.data(of: .source(Fixture.uri)) == Data("30".utf8))
            let status = try await fixture.store.status().sources
            #expect((status.count, status.bytes) == (1, 2))
        },
    ]

    static let originalsVaried: [ConformanceCase] =
        [(1, 2, "b"), (2, 1, "a"), (2, 2, "b")].map { olderFetchNeverReplacesANewer($0, $1, $2) }
        + [(1, true), (2, true), (0, false)].map { revalidationChangesTheHeadUnlessItIsOlder($0, $1) }
        + [ForgottenExtent.originals, .originalsAndThumbnails].map(thumbnailsAreForgottenOnlyIfAsked)

    private static let key = SourceKey(uri: Fixture.uri, scope: nil)
    private static let failure = JobFailure(.sourceNotFound, at: .fetch, "404", isRetryable: false)

    private static func olderFetchNeverReplacesANewer(_ first: Int64, _ second: Int64, _ stands: Character)
        -> ConformanceCase
    {
        ConformanceCase("an older fetch never replaces a newer: \(first), \(second), \(stands)") { fixture in
            try await fixture.keep("a", uri: Fixture.uri, seen: first)
            let kept = try await fixture.keep("b", uri: Fixture.uri, seen: second)
            #expect(kept == (stands == "b" ? .kept : .superseded))
            #expect(try await fixture.store.data(of: .source(Fixture.uri)) == Fixture.bytes(stands))
        }
    }

    private static func revalidationChangesTheHeadUnlessItIsOlder(_ seen: Int64, _ isWritten: Bool) -> ConformanceCase {
        ConformanceCase("a revalidation changes the head unless it is older: \(seen), \(isWritten)") { fixture in
            let bytes = Fixture.bytes("a")
            try await fixture.store.keep(Fixture.original(bytes, seen: 1), data: bytes, budget: nil)
            let fresh = Fixture.original(bytes, seen: seen, etag: "\"2\"")
            #expect(try await fixture.store.freshen(fresh) == isWritten)
            let found = try await fixture.store.cachedSource(Fixture.uri)
            #expect(found.head.fields.lines[0].value == (isWritten ? "\"2\"" : "\"1\""))
            #expect(found.sourceSeen == max(seen, 1))
        }
    }

    private static func thumbnailsAreForgottenOnlyIfAsked(_ extent: ForgottenExtent) -> ConformanceCase {
        ConformanceCase("thumbnails are forgotten only if asked: \(extent)") { fixture in
            _ = try await fixture.store.enqueue([Fixture.request()])
            let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            let rendered = try Fixture.rendered(job)
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
    }
}
