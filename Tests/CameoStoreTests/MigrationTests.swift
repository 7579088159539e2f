import CameoModel
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CameoStore

/// Stores that an earlier version made.
@Suite(.timeLimit(.minutes(10)))
struct MigrationTests {
    /// A store as version 1 left it: a completed job with its thumbnail, one that failed, one that waits.
    private struct Version1Store {
        static let request = #"{"source":"file:///pictures/a.jpg","renditions":[{"width":64,"height":64}]}"#
        static let bytes = Data("thumbnail of version 1".utf8)
        let folder: TemporaryFolder
        let thumbnail: ThumbnailID

        var path: String { folder.path }

        init() async throws {
            folder = try TemporaryFolder()
            thumbnail = try #require(try ThumbnailRequest(parsing: Self.request.utf8).thumbnailIDs().first)
            let digest = SHA256.digest(of: Self.bytes).hex
            let script = """
                PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                \(Schema.version1)
                PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 1;
                INSERT INTO job(request) VALUES ('\(Self.request)'), ('\(Self.request)'), ('\(Self.request)');
                INSERT INTO blob VALUES ('\(digest)', \(Self.bytes.count), CAST('\(Self.text)' AS BLOB), 'image/webp', 1);
                INSERT INTO thumbnail VALUES ('\(thumbnail)', '\(digest)', 64, 48, 'webp', 'file:///pictures/a.jpg', '{}',
                  '\(String(repeating: "0", count: 64))', 0, 'test-1', 1, 1, 1);
                UPDATE job SET state = 'completed', finalized_at = 1900000000000, attempt = 1,
                  thumbnails = '[{"id":"\(thumbnail)","name":"64x64"}]' WHERE id = 1;
                INSERT INTO attempt(job_id, number, claim_token, worker, started_at, finished_at, outcome)
                  VALUES (1, 1, 't', 'w', 1, 2, 'completed');
                UPDATE job SET state = 'discarded', finalized_at = 1900000000000, attempt = 1, failure =
                  '{"code":"image.corrupt","stage":"render","message":"cut off","isRetryable":false}' WHERE id = 2;
                """
            let result = try await run("sqlite3", ["-bail", folder.path("cameo.sqlite")], input: Data(script.utf8))
            try #require(result.exitStatus == 0, "\(result.errorText)")
        }

        private static var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// A store that has it is out in the world: a change belongs into a new script.
    @Test func scriptOfVersion1IsWhatWasPublished() {
        let digest = SHA256.digest(of: Data(Schema.version1.utf8))
        #expect(digest.hex == "ade1c48475c156db1e696278bb4d403bd5ff27715b45afc9968cce87669c0d6d")
    }

    @Test(arguments: [
        (Schema.version2, "772b2f0166c39e01d4b93b8643ab3564f27429be615c378ef6172dda35c8a25a"),
        (Schema.version3, "fa6616de2afd758c6b603cafdb8fde3bd66abc5d169e00c62ff8184b62ea2dbe"),
        (Schema.version4, "70e16bac5f7ab8d687b743216d761f65e164954838eb8f5ac8315cd080f1c465"),
        (Schema.version5, "bf95d15765247fba3923c9ba64db514fe3ade47c414bf955c034b6eb101dc917"),
    ])
    func scriptsOfLaterVersionsAreWhatWasPublished(script: String, digest: String) {
        #expect(SHA256.digest(of: Data(script.utf8)).hex == digest)
    }

    /// Nothing tells what a program once stored from what was left over: version 3 keeps both.
    @Test func blobsOfVersion2StayAndJobsHoldTheirs() async throws {
        let folder = try TemporaryFolder()
        let (named, unnamed) = (Data("named".utf8), Data("unnamed".utf8))
        let digests = [named, unnamed].map { SHA256.digest(of: $0).hex }
        let request = #"{"source":"cameo://blob/sha256-\#(digests[0])","renditions":[{"width":64}]}"#
        let script = """
            PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
            \(Schema.version1)
            \(Schema.version2)
            PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 2;
            INSERT INTO blob VALUES ('\(digests[0])', 5, CAST('named' AS BLOB), NULL, 1),
              ('\(digests[1])', 7, CAST('unnamed' AS BLOB), NULL, 1);
            INSERT INTO job(request) VALUES ('\(request)');
            """
        let made = try await run("sqlite3", ["-bail", folder.path("cameo.sqlite")], input: Data(script.utf8))
        try #require(made.exitStatus == 0, "\(made.errorText)")
        let store = try Store(at: folder.path)
        #expect(try await store.collectBlobs(unreferencedSince: .now + 1, atMost: 16).candidates == 0)
        #expect(try await store.status().sources.count == 0)
        // A producer that knows nothing of the new version.
        let text = "INSERT INTO job(request) VALUES ('\(request)'); SELECT count(*) FROM job WHERE source_blob NOT NULL"
        let inserted = try await run("sqlite3", ["-bail", folder.path("cameo.sqlite")], input: Data(text.utf8))
        #expect(inserted.outputText == "2\n", "\(inserted.errorText)")
        #expect(try await store.data(of: .blob(try #require(BlobDigest(hex: digests[1])))) == unnamed)
        #expect(try await store.check().filter { $0.severity != .ok } == [])
    }

    /// Nobody knows when what version 4 made was last read: until retention's time has gone by from the step on, all of it
    /// may have been read until that moment. A job that waits keeps what it is to be made of.
    @Test func nothingVanishesSinceItWasNotReadBeforeVersion5() async throws {
        let old = try await Version1Store()
        let needed = try #require(ThumbnailID(String(repeating: "0", count: 32)))
        let request = #"{"source":"cameo:\/\/thumb\/\#(needed)","renditions":[{"width":64}]}"#
        let script = """
            \(Schema.version2)
            \(Schema.version3)
            \(Schema.version4)
            PRAGMA user_version = 4;
            INSERT INTO thumbnail(id, blob, width, height, format, source, rendition, source_digest, source_seen,
              renderer_version, job_id, created_at, updated_at)
              SELECT '\(needed)', blob, width, height, format, source, rendition, source_digest, source_seen,
                renderer_version, job_id, created_at, updated_at FROM thumbnail;
            INSERT INTO job(request) VALUES ('\(request)');
            """
        let made = try await run("sqlite3", ["-bail", old.folder.path("cameo.sqlite")], input: Data(script.utf8))
        try #require(made.exitStatus == 0, "\(made.errorText)")
        var retention = Retention.forever
        retention.thumbnails = .seconds(86_400)
        let store = try Store(at: old.path)
        #expect(try await store.prunable(retention).thumbnails == 0)
        for (hours, unused) in [(24.9, 0), (25.1, 1)] {
            var clock = StoreClock.system
            clock.now = { Date() + hours * 3_600 }
            let later = try Store(at: old.path, clock: clock)
            #expect(try await later.prunable(retention).thumbnails == unused, "after \(hours) hours")
        }
        #expect(try await store.check().filter { $0.severity != .ok } == [])
    }

    @Test func everythingIsStillThereAfterTheStepToThisVersion() async throws {
        let old = try await Version1Store()
        let store = try Store(at: old.path)
        #expect(try await store.status().schemaVersion == Schema.currentVersion)
        #expect(try await store.jobs(JobFilter()).map(\.state) == [.available, .discarded, .completed])
        let done = try await store.job(1)
        #expect(done.attempts?.map(\.outcome) == [.completed])
        let thumbnail = try #require(done.thumbnails.first)
        #expect((thumbnail.width, thumbnail.height, thumbnail.format) == (64, 48, "webp"))
        #expect(thumbnail.bytes == Version1Store.bytes.count)
        #expect(thumbnail.source == nil && thumbnail.hasAlpha == nil && thumbnail.dominantColor == nil)
        #expect(try await store.thumbnail(old.thumbnail).facts == nil)
        #expect(try await store.data(of: .thumbnail(old.thumbnail)) == Version1Store.bytes)
        #expect(try await store.job(2).failure?.code == .imageCorrupt)
        #expect(try await store.check().filter { $0.severity != .ok } == [])
        // A second process finds nothing left to do.
        #expect(try await Store(at: old.path).status().thumbnails == 1)
    }

    /// The old row has the same source and renderer, so that only its missing facts call for a new one.
    @Test func thumbnailWithoutFactsIsMadeAnew() async throws {
        let old = try await Version1Store()
        let store = try Store(at: old.path)
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        let provenance = try StoreFixture.provenance()
        try await store.commit { db in
            try db.execute(
                sql: "UPDATE thumbnail SET source_digest = ?, renderer_version = ?",
                arguments: [provenance.sourceDigest.hex, provenance.rendererVersion]
            )
        }
        try await store.complete(
            job.claim,
            storing: try StoreFixture.rendered(job, bytes: Data("new".utf8)),
            from: provenance,
            timings: AttemptTimings()
        )
        let thumbnail = try await store.thumbnail(old.thumbnail)
        #expect(thumbnail.facts?.placeholder == StoreFixture.placeholder)
        #expect(try await store.data(of: thumbnail.blob) == Data("new".utf8))
    }

    @Test func readerOfAnOlderStoreSaysHowToBringItUpToDate() async throws {
        let old = try await Version1Store()
        let expected = StoreError.olderSchema(path: old.path, found: 1, needed: Schema.currentVersion)
        #expect(throws: expected) { try Store(reading: old.path) }
        #expect(expected.description.contains("schema version 1"))
        #expect(expected.description.contains("cameo-admin check --store \(old.path)"))
        _ = try Store(at: old.path, creating: false)
        #expect(try await Store(reading: old.path).status().count(.completed) == 1)
    }

    @Test func readerOfAFileWithoutTablesFindsNoStore() throws {
        let folder = try TemporaryFolder()
        try folder.write(Data(), to: "cameo.sqlite")
        #expect(throws: StoreError.missing(path: folder.path)) { try Store(reading: folder.path) }
    }
}
