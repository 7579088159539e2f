package import CameoModel
package import CameoStore
internal import Foundation

extension StoreSteps {
    package static var day: Double { 86_400 }

    /// Keeps all jobs, and thumbnails used within ten days.
    package static var tenDays: Retention {
        var retention = Retention.forever
        retention.thumbnails = .seconds(10 * day)
        return retention
    }

    /// Creates a thumbnail with its own job.
    @discardableResult
    package func makeThumbnail(
        of source: String = "file:///pictures/a.jpg",
        change: (inout ThumbnailRequest) -> Void = { _ in }
    ) async throws -> ThumbnailID {
        let request = Self.request(source, change: change)
        _ = try await faces.enqueue([request])
        guard let job = try await faces.claim(limit: 1, for: "w1").first else { throw StoreError.failed("not claimed") }
        let rendered = try Self.rendered(job, bytes: Data("thumbnail of \(source)".utf8))
        let product = JobProduct.rendered(rendered, try Self.provenance())
        try await faces.settle(job.claim, as: .complete(product), timings: AttemptTimings())
        return try request.thumbnailIDs()[0]
    }

    /// Inserts this many more thumbnails, made now and without jobs.
    package func insertThumbnails(_ count: Int, like id: ThumbnailID) async throws {
        let now = clock.now.milliseconds
        let zeros = String(repeating: "0", count: 32)
        try await sql(
            """
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
            INSERT INTO thumbnail(id, blob, width, height, format, source, rendition, source_digest, source_seen,
              renderer_version, job_id, created_at, updated_at, has_alpha, frames, thumb_hash, blur_hash,
              dominant_color, source_format, source_width, source_height, source_pages, source_has_alpha,
              source_is_animated, is_truncated)
            SELECT substr('\(zeros)' || n, 1 + length(cast(n AS text))), blob, width, height, format, source, rendition,
              source_digest, source_seen, renderer_version, job_id, \(now), \(now), has_alpha, frames, thumb_hash,
              blur_hash, dominant_color, source_format, source_width, source_height, source_pages, source_has_alpha,
              source_is_animated, is_truncated
            FROM number, thumbnail WHERE id = '\(id.text)'
            """
        )
    }

    @discardableResult
    package func prune(
        _ retention: Retention,
        pause: Duration = .zero,
        report: @escaping (Pruned) async -> Void = { _ in }
    ) async throws -> Pruned {
        try await faces.prune(retention, in: try await faces.freeTurn(), pause: pause, report: report)
    }

    package func isThere(_ id: ThumbnailID) async throws -> Bool { try await faces.have([id], as: nil) }
}
