import CameoModel
import CameoStore
import Foundation
import GRDB
import TestSupport

@testable import CameoSQLite

extension StoreFixture {
    static let day = 86_400.0

    /// Keeps all jobs, and thumbnails used within ten days.
    static let tenDays: Retention = {
        var retention = Retention.forever
        retention.thumbnails = .seconds(10 * day)
        return retention
    }()

    /// Creates a thumbnail with its own job.
    @discardableResult
    func makeThumbnail(
        of source: String = "file:///pictures/a.jpg",
        change: (inout ThumbnailRequest) -> Void = { _ in }
    ) async throws -> ThumbnailID {
        let request = Self.request(source, change: change)
        _ = try await store.enqueue([request])
        guard let job = try await store.claim(limit: 1, for: "w1").first else { throw StoreError.failed("not claimed") }
        try await store.complete(
            job.claim,
            storing: Self.rendered(job, bytes: Data("thumbnail of \(source)".utf8)),
            from: Self.provenance(),
            timings: AttemptTimings()
        )
        return try request.thumbnailIDs()[0]
    }

    /// Inserts this many more thumbnails, made now and without jobs.
    func insertThumbnails(_ count: Int, like id: ThumbnailID) async throws {
        let now = clock.storeClock.now().milliseconds
        try await store.commit { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
                    INSERT INTO thumbnail(id, blob, width, height, format, source, rendition, source_digest, source_seen,
                      renderer_version, job_id, created_at, updated_at, has_alpha, frames, thumb_hash, blur_hash,
                      dominant_color, source_format, source_width, source_height, source_pages, source_has_alpha,
                      source_is_animated, is_truncated)
                    SELECT printf('%032x', n), blob, width, height, format, source, rendition, source_digest, source_seen,
                      renderer_version, job_id, ?, ?, has_alpha, frames, thumb_hash, blur_hash, dominant_color,
                      source_format, source_width, source_height, source_pages, source_has_alpha, source_is_animated,
                      is_truncated
                    FROM number, thumbnail WHERE id = ?
                    """,
                arguments: [count, now, now, id.text]
            )
        }
    }

    @discardableResult
    func prune(
        _ retention: Retention,
        pause: Duration = .zero,
        report: @escaping (Pruned) async -> Void = { _ in }
    ) async throws -> Pruned {
        try await store.prune(retention, in: try await store.freeTurn(), pause: pause, report: report)
    }

    func isThere(_ id: ThumbnailID) async throws -> Bool { try await store.have([id]) }
}
