import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport

@testable import CameoPostgreSQL

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
        let rendered = try Self.rendered(job, bytes: Data("thumbnail of \(source)".utf8))
        let product = JobProduct.rendered(rendered, try Self.provenance())
        try await store.complete(job.claim, with: product, timings: AttemptTimings())
        return try request.thumbnailIDs()[0]
    }

    /// Inserts this many more thumbnails, made now and without jobs.
    func insertThumbnails(_ count: Int, like id: ThumbnailID) async throws {
        let now = clock.now.milliseconds
        try await sql(
            """
            INSERT INTO thumbnail(id, blob, width, height, format, source, rendition, source_digest, source_seen,
              renderer_version, job_id, created_at, updated_at, has_alpha, frames, thumb_hash, blur_hash,
              dominant_color, source_format, source_width, source_height, source_pages, source_has_alpha,
              source_is_animated, is_truncated)
            SELECT lpad(to_hex(n), 32, '0'), blob, width, height, format, source, rendition, source_digest, source_seen,
              renderer_version, job_id, \(now), \(now), has_alpha, frames, thumb_hash, blur_hash, dominant_color,
              source_format, source_width, source_height, source_pages, source_has_alpha, source_is_animated,
              is_truncated
            FROM generate_series(1, \(count)) AS n, thumbnail WHERE id = '\(id.text)'
            """
        )
    }

    @discardableResult
    func prune(
        _ retention: Retention,
        pause: Duration = .zero,
        report: @escaping (Pruned) async -> Void = { _ in }
    ) async throws -> Pruned {
        try await store.prune(retention, in: try await store.freeTurn(), pause: pause, report: report)
    }

    func isThere(_ id: ThumbnailID) async throws -> Bool { try await store.have([id], as: nil) }
}
