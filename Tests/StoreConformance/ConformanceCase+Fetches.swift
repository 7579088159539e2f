import CameoModel
import CameoStore
import Testing

extension ConformanceCase {
    /// Invariant I5: a job shares only a download that began after it was requested.
    static let fetches = [
        ConformanceCase("a job knows the last fetch that had begun when it was accepted") { fixture in
            try await fixture.enqueue(1, from: 0)
            let first = try #require(try await fixture.claim().first)
            #expect(first.begun.sourceSeen > first.begun.after)
            try await fixture.enqueue(1, from: 1)
            let begun = try await fixture.store.beginFetch(first.claim, of: Fixture.request())
            #expect(begun.after == first.begun.after && begun.sourceSeen > first.begun.sourceSeen)
            let second = try #require(try await fixture.claim().first)
            #expect((first.begun.sourceSeen..<begun.sourceSeen).contains(second.begun.after))
            try await fixture.enqueue(1, from: 2)
            let third = try #require(try await fixture.claim().first)
            #expect(third.begun.after >= second.begun.sourceSeen)
        },
        ConformanceCase("a job that a request joins knows the last fetch that had begun then") { fixture in
            try await fixture.enqueue(2, from: 0)
            let first = try #require(try await fixture.claim().first)
            #expect(try await fixture.enqueue(1, from: 1).map(\.id) == [2])
            let joined = try #require(try await fixture.claim().first)
            #expect(joined.claim.jobID == 2 && joined.begun.after >= first.begun.sourceSeen)
        },
    ]
}
