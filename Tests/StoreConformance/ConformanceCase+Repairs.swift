import CameoModel
import CameoStore
import Foundation
import Testing

extension Fixture {
    fileprivate func repair(upTo most: Int? = nil) async throws -> [CheckFinding] {
        try await store.repair(in: try await store.freeTurn(), removingUpTo: most) { _ in }
    }

    fileprivate func undo() async throws -> [String] {
        try await store.undoRepairs(in: try await store.freeTurn()).map(\.message)
    }

    /// What a check says of blobs, if they are not all sound.
    fileprivate func trouble() async throws -> String? {
        let blobs = try await store.check { _ in }.first { $0.subject == "blobs" }
        return try #require(blobs).severity == .ok ? nil : blobs?.message
    }

    /// Makes thumbnails of which each has bytes of its own, as many as those of the others.
    @discardableResult
    fileprivate func makeThumbnails(_ count: Int) async throws -> [ThumbnailID] {
        var made: [ThumbnailID] = []
        for number in 100..<100 + count {
            let request = Self.request("file:///\(number)")
            _ = try await store.enqueue([request])
            try await complete(try await claim()[0], bytes: "bytes of \(number)")
            made += try request.thumbnailIDs()
        }
        return made
    }

    /// Other bytes come for all blobs of a size but the first, as from a disk or a storage that lies.
    fileprivate func lie() async throws {
        try await sql(
            """
            CREATE TABLE true_bytes AS SELECT digest AS name, data AS bytes FROM blob;
            UPDATE blob SET data = (SELECT bytes FROM true_bytes WHERE length(bytes) = size ORDER BY name LIMIT 1)
            """
        )
    }

    fileprivate func tellTheTruth() async throws {
        try await sql(
            "UPDATE blob SET data = (SELECT bytes FROM true_bytes WHERE name = digest); DROP TABLE true_bytes"
        )
    }

    fileprivate var rows: String {
        get async throws {
            let fields = RecordKind.source.fields.map(\.name).joined(separator: ", ")
            return try await sql("SELECT * FROM thumbnail ORDER BY id")
                + sql("SELECT \(fields) FROM source ORDER BY uri")
        }
    }
}

extension ConformanceCase {
    static let repairs: [ConformanceCase] = [
        ConformanceCase("a repair that would remove much removes nothing") { fixture in
            try await fixture.makeThumbnails(22)
            try await fixture.lie()
            let before = try await fixture.rows
            for most in [nil, 20] {
                let found = try await fixture.repair(upTo: most)
                #expect(found.map(\.severity) == [.error])
                #expect(found.first?.message.hasPrefix("21 of 22 thumbnails would be removed") == true, "\(found)")
                #expect(found.first?.message.contains("`--remove-up-to 21`") == true, "\(found)")
                #expect(try await fixture.rows == before)
            }
            #expect(try await fixture.repair(upTo: 21).map(\.severity) == [.mended])
            #expect(try await fixture.store.status().thumbnails == 1)
            #expect(try await fixture.trouble() == nil, "what stands aside is no damage")
            try await fixture.tellTheTruth()
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("a hundredth of a large store may be removed") { fixture in
            let ids = try await fixture.makeThumbnails(23)
            try await fixture.insertThumbnails(2_100, like: ids[0])
            // The many have the bytes of the first.
            try await fixture.lie()
            let first = try await fixture.store.thumbnail(ids[0]).blob.hex
            try await fixture.sql(
                "UPDATE blob SET data = (SELECT bytes FROM true_bytes WHERE name = digest) WHERE digest = '\(first)'"
            )
            let fixed = try await fixture.repair()
            #expect(fixed.map(\.severity) == [.mended], "\(fixed)")
            #expect(try await (2_101...2_102).contains(fixture.store.status().thumbnails))
        },
        ConformanceCase("what a repair removed comes back as it was") { fixture in
            try await fixture.makeThumbnails(3)
            try await fixture.keep("a", uri: Fixture.uri)
            try await fixture.keep("b", uri: "https://example.com/b")
            let before = try await fixture.rows
            try await fixture.lie()
            _ = try await fixture.repair()
            #expect(try await fixture.store.status().thumbnails < 3)
            try await fixture.tellTheTruth()
            fixture.clock.advance(seconds: 6 * Fixture.day)
            try await fixture.prune(.forever)
            let undone = try await fixture.undo()
            #expect(undone.count == 1 && undone[0].hasSuffix("brought back that a repair had removed"), "\(undone)")
            #expect(try await fixture.rows == before)
            #expect(try await fixture.trouble() == nil)
            #expect(try await fixture.undo()[0].hasPrefix("0 thumbnails"))
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("what was made again or forgotten does not come back") { fixture in
            let ids = try await fixture.makeThumbnails(4)
            try await fixture.lie()
            _ = try await fixture.repair()
            try await fixture.tellTheTruth()
            var gone: [Int] = []
            for index in ids.indices where try await !fixture.isThere(ids[index]) { gone.append(index) }
            try #require(gone.count == 3)
            let names = gone.map { "file:///\(100 + $0)" }
            fixture.clock.advance(seconds: 60)
            _ = try await fixture.store.enqueue([Fixture.request(names[0])])
            try await fixture.complete(try await fixture.claim()[0], bytes: "made again")
            _ = try await fixture.store.forgetSource(names[1], .originalsAndThumbnails)
            let made = try await fixture.sql("SELECT * FROM thumbnail WHERE id = '\(ids[gone[0]].text)'")
            let undone = try await fixture.undo()
            #expect(
                undone[0].hasPrefix("1 thumbnails") && undone[0].hasSuffix("; 1 were made again since"),
                "\(undone)"
            )
            #expect(try await fixture.sql("SELECT * FROM thumbnail WHERE id = '\(ids[gone[0]].text)'") == made)
            #expect(try await fixture.store.status().thumbnails == 3)
            #expect(try await !fixture.isThere(ids[gone[1]]))
        },
        ConformanceCase("what stands aside goes after seven days with its bytes") { fixture in
            try await fixture.makeThumbnails(2)
            try await fixture.lie()
            _ = try await fixture.repair()
            try await fixture.tellTheTruth()
            fixture.clock.advance(seconds: 7 * Fixture.day - 1)
            #expect(try await fixture.prune(.forever).blobs == 0)
            fixture.clock.advance(seconds: 1)
            #expect(try await fixture.prune(.forever).blobs == 1)
            #expect(try await fixture.undo()[0].hasPrefix("0 thumbnails"))
            #expect(try await fixture.store.status().blobs.count == 1)
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("a promise of a job that has ended is found and removed") { fixture in
            func promises() async throws -> CheckFinding? {
                try await fixture.store.check { _ in }.first { $0.subject == "promises" }
            }
            try await fixture.register()
            try await fixture.enqueue(3)
            let failed = try await fixture.claim(2)
            try await fixture.complete(failed[0])
            try await fixture.store.discard([failed[1]], Fixture.failure)
            #expect(try await promises()?.severity == .ok, "one is kept, one has a code, one waits")
            let (ended, unknown) = (String(repeating: "1", count: 32), String(repeating: "2", count: 32))
            let job = failed[0].claim.jobID
            try await fixture.sql(
                "INSERT INTO promise(job_id, thumbnail) VALUES (\(job), '\(ended)'), (4711, '\(unknown)')"
            )
            let found = try #require(try await promises())
            #expect(found.severity == .error && found.message.contains("job \(job) promises \(ended)"), "\(found)")
            #expect(found.message.contains("(and 1 more)"), "\(found)")
            let fixed = try await fixture.repair()
            #expect(fixed.map(\.message) == ["2 promises of ended jobs removed"], "\(fixed)")
            #expect(try await promises()?.severity == .ok)
            #expect(try await fixture.sql("SELECT count(*) FROM promise") == "2")
        },
        ConformanceCase("a malformed row that stands aside stops no other") { fixture in
            try await fixture.makeThumbnails(3)
            try await fixture.lie()
            _ = try await fixture.repair()
            try await fixture.tellTheTruth()
            try await fixture.sql("UPDATE set_aside SET entry = '{}' WHERE id = (SELECT max(id) FROM set_aside)")
            let undone = try await fixture.undo()
            #expect(undone.count == 2 && undone[0].hasPrefix("1 thumbnails"), "\(undone)")
            #expect(undone.last == "1 rows of set_aside are malformed")
        },
        ConformanceCase("a row whose bytes are on their way is no damage") { fixture in
            let id = try await fixture.makeThumbnail()
            let digest = BlobDigest(of: Data("on its way".utf8)).hex
            let now = fixture.clock.now.milliseconds
            try await fixture.sql("INSERT INTO blob(digest, size, created_at) VALUES ('\(digest)', 10, \(now))")
            #expect(try await fixture.trouble() == nil)
            fixture.clock.advance(seconds: 3_600)
            #expect(try await fixture.trouble() != nil, "it never came")
            try await fixture.sql("UPDATE blob SET created_at = created_at + 3600000")
            #expect(try await fixture.trouble() == nil)
            try await fixture.sql("UPDATE thumbnail SET blob = '\(digest)' WHERE id = '\(id.text)'")
            #expect(try await fixture.trouble() != nil, "something refers to it")
        },
    ]
}
