import CameoModel
import CameoStore
import Foundation
import TestSupport

/// A store of one test's own, and a worker's hand in it: jobs are completed with bytes that a test chooses, by the calls
/// that a real worker makes.
struct Workbench {
    let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Store(at: folder.path("store"))
    }

    var path: String { store.directory.path }

    func register(_ worker: String = "worker") async throws -> String {
        _ = try await store.register(id: worker, host: "host", pid: 1, version: "test", concurrency: 4)
        return worker
    }

    /// Completes the jobs that are due for a registered worker, and returns how many they were. `bytes` is what is
    /// "rendered" for the rendition of this index, over all jobs.
    @discardableResult
    func work(_ worker: String, bytes: (Int) -> Data) async throws -> Int {
        let jobs = try await store.claim(limit: 1_000, for: worker)
        var index = 0
        // Side by side, so that they share commits.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for job in jobs {
                let request = try ThumbnailRequest(parsing: job.request.utf8)
                let rendered = zip(try request.thumbnailIDs(), request.renditions).map { id, rendition in
                    defer { index += 1 }
                    return RenderedThumbnail(id: id, rendition: rendition, encoded: Self.encoded(bytes(index)))
                }
                group.addTask { [store] in try await Self.complete(job, request, with: rendered, in: store) }
            }
            try await group.waitForAll()
        }
        return jobs.count
    }

    private static func complete(
        _ job: ClaimedJob,
        _ request: ThumbnailRequest,
        with rendered: [RenderedThumbnail],
        in store: Store
    ) async throws {
        let begun = try await store.beginFetch(job.claim, of: request)
        try await store.complete(
            job.claim,
            storing: rendered,
            from: Provenance(
                source: try SourceIdentity(of: request.source),
                sourceDigest: SHA256.digest(of: Data(request.source.utf8)),
                sourceSeen: begun.sourceSeen,
                rendererVersion: "test",
                picture: PictureFacts(format: .png, width: 640, height: 480, pages: 1, hasAlpha: false),
                isTruncated: false
            ),
            timings: AttemptTimings()
        )
    }

    /// The first bytes of a WebP file, its own number, and bytes that tell their place.
    static func picture(_ number: Int, bytes count: Int = 4_000) -> Data {
        let places = Data((0..<251).map { UInt8($0) })
        var data = Data("RIFF____WEBPVP8 \(number) ".utf8)
        while data.count < count { data += places }
        return data.prefix(count)
    }

    private static func encoded(_ bytes: Data) -> EncodedRendition {
        EncodedRendition(
            bytes: bytes,
            width: 64,
            height: 48,
            format: .webp,
            hasAlpha: false,
            frames: 1,
            placeholder: Placeholder(
                thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
                blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
                dominantColor: Color(red: 1, green: 2, blue: 3, alpha: 255)
            )
        )
    }
}
