import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// The stored facts about a thumbnail.
@Suite(.timeLimit(.minutes(10)))
struct FactsTests {
    private func make(
        _ fixture: StoreFixture,
        bytes: String = "thumbnail",
        frames: Int = 1,
        from provenance: Provenance
    ) async throws -> Job {
        try await fixture.enqueue { $0.source = "file:///pictures/a.jpg" }
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        let thumbnails = try StoreFixture.rendered(job).map {
            RenderedThumbnail(
                id: $0.id,
                rendition: $0.rendition,
                encoded: .made(of: Data(bytes.utf8), hasAlpha: true, frames: frames)
            )
        }
        try await fixture.store.complete(job.claim, storing: thumbnails, from: provenance, timings: AttemptTimings())
        return try await fixture.store.job(job.claim.jobID)
    }

    @Test func factsComeBackInTheReport() async throws {
        let fixture = try StoreFixture()
        let job = try await make(fixture, from: StoreFixture.provenance())
        let thumbnail = try #require(job.thumbnails.first)
        #expect((thumbnail.hasAlpha, thumbnail.frames, thumbnail.isAnimated) == (true, 1, false))
        #expect(thumbnail.thumbHash == Placeholder.made.thumbHash)
        #expect(thumbnail.blurHash == Placeholder.made.blurHash)
        #expect(thumbnail.dominantColor == "#a1b2c3")
        #expect(thumbnail.truncated == nil)
        let json = try JSONValue(parsing: WireFormat.encode(thumbnail))
        guard case .object(let members) = json else {
            Issue.record("no object: \(json)")
            return
        }
        #expect(
            members["source"]?.canonicalText
                == #"{"format":"gif","hasAlpha":true,"height":480,"isAnimated":true,"pages":3,"width":640}"#
        )
        #expect(members["truncated"] == nil)
    }

    /// Retrying would not help: a worker that waited for the store to accept it would wait for ever.
    @Test func aConstraintViolationIsRefusedByName() async throws {
        let fixture = try StoreFixture()
        do {
            _ = try await make(fixture, frames: 0, from: StoreFixture.provenance())
            Issue.record("a thumbnail without frames was taken")
        } catch let error as StoreError {
            guard case .refused = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(try await fixture.store.status().thumbnails == 0)
    }

    @Test func truncatedSourceAndAnimationAreMarked() async throws {
        let fixture = try StoreFixture()
        let job = try await make(fixture, frames: 3, from: StoreFixture.provenance(isTruncated: true))
        let thumbnail = try #require(job.thumbnails.first)
        #expect((thumbnail.frames, thumbnail.isAnimated, thumbnail.truncated) == (3, true, true))
    }

    @Test func theViewShowsTheSameFactsAsTheReport() async throws {
        let fixture = try StoreFixture()
        let made = try await make(fixture, frames: 2, from: StoreFixture.provenance(isTruncated: true))
        try await fixture.enqueue { $0.renditions[0].width = 65 }
        _ = try await fixture.store.claim(limit: 1, for: "w1")
        let select = "SELECT thumbnails FROM job_status ORDER BY id;"
        let result = try await run("sqlite3", ["\(fixture.path)/cameo.sqlite", select])
        #expect(result.exitStatus == 0, "\(result.errorText)")
        let lines = result.outputText.split(separator: "\n")
        let reported = try JSONValue(parsing: WireFormat.encode(made.thumbnails))
        #expect(try JSONValue(parsing: String(try #require(lines.first))) == reported)
        // For a thumbnail that does not exist yet, everything but name and URI is null.
        guard case .array(let waiting) = try JSONValue(parsing: String(lines[1])),
            case .object(let members)? = waiting.first
        else {
            Issue.record("no thumbnails in \(lines[1])")
            return
        }
        #expect(members.filter { $0.value != .null }.keys.sorted() == ["name", "uri"])
        #expect(members.count == 15)
    }

    @Test func newerThumbnailBringsItsOwnFacts() async throws {
        let fixture = try StoreFixture()
        _ = try await make(fixture, bytes: "old", from: StoreFixture.provenance(isTruncated: true))
        let newer = try StoreFixture.provenance(seen: 2, source: "mended")
        let job = try await make(fixture, bytes: "new", frames: 4, from: newer)
        #expect((job.thumbnails[0].frames, job.thumbnails[0].truncated) == (4, nil))
        // An older fetch changes neither blob nor facts.
        let older = try StoreFixture.provenance(seen: 1, source: "older", isTruncated: true)
        let late = try await make(fixture, bytes: "late", frames: 9, from: older)
        #expect((late.thumbnails[0].frames, late.thumbnails[0].truncated) == (4, nil))
    }

    @Test func incompleteFactsAreRefused() async throws {
        let fixture = try StoreFixture()
        _ = try await make(fixture, from: StoreFixture.provenance())
        for (column, value) in [("frames", "NULL"), ("dominant_color", "'red'"), ("source_pages", "0")] {
            await #expect(throws: StoreError.self, "\(column)") {
                try await fixture.store.commit { db in
                    try db.execute("UPDATE thumbnail SET \(column) = \(value)")
                }
            }
        }
    }
}
