import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoReport

/// A store of one test's own, whose jobs are completed without a renderer.
struct ReportBench: StoreBench {
    let folder: TemporaryFolder
    let clock = ConformanceClock()
    let store: any Store

    init() async throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(at: folder.path("store"), clock: clock.storeClock)
        try await store.register(
            WorkerDescription(id: "w1", host: "host", pid: 1, version: "test", concurrency: 4)
        )
    }

    /// Enqueues one request and returns its job, which waits.
    func enqueue(
        _ source: String,
        batch: String? = nil,
        labels: [String] = [],
        rendition: Rendition = Rendition(width: 64)
    ) async throws -> Job {
        let request = ThumbnailRequest(source: source, renditions: [rendition], batch: batch, labels: labels)
        return try await store.job(try await store.enqueue([request])[0].jobID)
    }

    /// Makes a job of whose end a hook is not told.
    func giveUpADelivery(to hook: String) async throws {
        var request = ThumbnailRequest(source: "https://example.com/\(hook).png", renditions: [Rendition(width: 64)])
        request.hook = hook
        _ = try await store.cancel(try await store.enqueue([request])[0].jobID)
        let delivery = try #require(try await store.claimDeliveries([hook: 1], for: "w1").first)
        try await store.settle(delivery, as: .giveUp(trouble: "404"))
    }

    /// Makes a job whose only thumbnail has these bytes.
    func complete(
        _ source: String,
        bytes: String = "thumbnail",
        batch: String? = nil,
        labels: [String] = [],
        rendition: Rendition = Rendition(width: 64)
    ) async throws -> Job {
        let waiting = try await enqueue(source, batch: batch, labels: labels, rendition: rendition)
        let job = try #require(try await store.claim(limit: 1, kind: .usual, queues: nil, for: "w1").first)
        let product = try Fixture.product(of: job, bytes: bytes)
        try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
        return try await store.job(waiting.id)
    }

    /// What is known of all thumbnails, in the order of their sources.
    func facts(_ filter: ThumbnailFilter = ThumbnailFilter()) async throws -> [ThumbnailFacts] {
        var facts: [ThumbnailFacts] = []
        try await store.forEachThumbnail(filter) { facts.append($0) }
        return facts
    }
}

/// Text that would take over a terminal, a page or a file name if it were used unescaped.
let hostile = "\u{1B}[31m\"><script>alert('x')</script>&../\u{202E}"

/// Escapes hostile text so that tests see where it was.
func masked(_ text: String) -> String { text.contains("\u{1B}") ? "MASKED" : text }

extension Job {
    /// A job that no store has, with any text in its fields.
    static func example(
        _ id: Int64 = 7,
        state: JobState = .completed,
        source: String? = "file:///pictures/a.jpg",
        text: String = "default",
        attempt: Int = 1,
        crashCount: Int = 0,
        failure: JobFailure? = nil,
        batch: String? = nil,
        thumbnails: [RequestedThumbnail] = [],
        attempts: [JobAttempt]? = nil
    ) -> Job {
        var job = Job(
            id: id,
            state: state,
            queue: text,
            priority: 3,
            attempt: attempt,
            maxAttempts: 5,
            crashCount: crashCount,
            createdAt: Date(timeIntervalSince1970: 0),
            availableAt: Date(timeIntervalSince1970: 60),
            request: .object(source.map { ["source": .string($0)] } ?? [:]),
            thumbnails: thumbnails
        )
        job.finalizedAt = state.isFinal ? Date(timeIntervalSince1970: 120) : nil
        (job.batch, job.worker, job.failure, job.attempts) = (batch, text, failure, attempts)
        return job
    }
}

extension RequestedThumbnail {
    /// An existing thumbnail of an animated GIF, under any name.
    static func example(
        _ name: String = "64x",
        id: ThumbnailID? = nil,
        hasAlpha: Bool = true,
        frames: Int = 1,
        isTruncated: Bool = false
    ) throws -> RequestedThumbnail {
        let id = try id ?? #require(ThumbnailID("0123456789abcdef0123456789abcdef"))
        let placeholder = Placeholder(
            thumbHash: "",
            blurHash: "",
            dominantColor: Color(red: 0xA1, green: 0xB2, blue: 0xC3, alpha: 0xFF)
        )
        let digest = BlobDigest(of: Data())
        let thumbnail = Thumbnail(
            id: id,
            blob: digest,
            encoded: EncodedRendition(
                byteCount: 1_234,
                width: 64,
                height: 48,
                format: .webp,
                hasAlpha: hasAlpha,
                frames: frames,
                placeholder: placeholder
            ),
            source: PictureFacts(format: .gif, width: 640, height: 480, pages: 3, hasAlpha: true),
            sourceDigest: digest,
            isTruncated: isTruncated,
            updatedAt: Date(timeIntervalSince1970: 0)
        )
        return RequestedThumbnail(name: name, id: id, thumbnail: thumbnail)
    }
}
