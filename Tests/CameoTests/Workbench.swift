import CameoHTTPCache
import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

/// A store of one test's own, and a worker's hand in it: jobs are completed with bytes that a test chooses, by the calls
/// that a real worker makes.
struct Workbench {
    let folder: TemporaryFolder
    private let store: any Store

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(at: folder.path("store"))
    }

    var path: String { store.location }

    /// Where a blob of more than 100 KiB lies.
    func blobFile(of data: Data) throws -> URL {
        let hex = BlobDigest(of: data).hex
        return URL(filePath: "\(path)/blobs/\(hex.prefix(2))/\(hex.dropFirst(2))")
    }

    /// Puts other bytes into the place of these.
    func damage(_ data: Data) async throws {
        let file = try blobFile(of: data)
        guard !FileManager.default.fileExists(atPath: file.path) else {
            return try Data("damaged".utf8).write(to: file)
        }
        try await sql("UPDATE blob SET data = zeroblob(size) WHERE digest = '\(BlobDigest(of: data).hex)';")
    }

    /// Runs statements as another program does, and returns what they print.
    @discardableResult
    func sql(_ statements: String) async throws -> String {
        let script = ".timeout 120000\nPRAGMA wal_autocheckpoint=0;\n\(statements)\n"
        let result = try await run("sqlite3", ["\(path)/cameo.sqlite"], input: Data(script.utf8))
        try #require(result.exitStatus == 0, "\(result.errorText)")
        // The first line answers the PRAGMA.
        return result.outputText.split(separator: "\n").dropFirst().joined(separator: "\n")
    }

    func register(_ worker: String = "worker") async throws -> String {
        try await store.register(
            WorkerDescription(id: worker, host: "host", pid: 1, version: "test", concurrency: 4)
        )
        return worker
    }

    /// Completes the jobs that are due for a registered worker, and returns how many they were. `bytes` is what is
    /// "rendered" for the rendition of this index, over all jobs.
    @discardableResult
    func work(_ worker: String, bytes: (Int) -> Data) async throws -> Int {
        let jobs = try await store.claim(
            ClaimRequest(limit: 1_000, background: 1_000, kind: .usual, queues: nil, for: worker)
        )
        var index = 0
        // Side by side, so that they share commits.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for job in jobs {
                let request = try ThumbnailRequest(parsing: job.request.utf8)
                let rendered = zip(try request.thumbnailIDs(), request.renditions).map { id, rendition in
                    defer { index += 1 }
                    return RenderedThumbnail(id: id, rendition: rendition, encoded: .made(of: bytes(index)))
                }
                group.addTask { [store] in
                    let begun = try await store.beginFetch(job.claim, of: request)
                    try await Self.complete(job, request, with: rendered, sourceSeen: begun.sourceSeen, in: store)
                }
            }
            try await group.waitForAll()
        }
        return jobs.count
    }

    /// Claims one job and reads its source, as a worker does that then takes its time.
    func begin(_ worker: String) async throws -> BegunJob {
        let jobs = try await store.claim(ClaimRequest(limit: 1, background: 1, kind: .usual, queues: nil, for: worker))
        guard let job = jobs.first else { throw CancellationError() }
        let request = try ThumbnailRequest(parsing: job.request.utf8)
        let begun = try await store.beginFetch(job.claim, of: request)
        return BegunJob(job: job, request: request, sourceSeen: begun.sourceSeen)
    }

    /// Completes a begun job, for all of whose renditions the same was "rendered".
    func complete(_ begun: BegunJob, with bytes: Data) async throws {
        let rendered = zip(try begun.request.thumbnailIDs(), begun.request.renditions).map { id, rendition in
            RenderedThumbnail(id: id, rendition: rendition, encoded: .made(of: bytes))
        }
        try await Self.complete(begun.job, begun.request, with: rendered, sourceSeen: begun.sourceSeen, in: store)
    }

    /// Gives a begun job up, as a worker does whose renderer could make nothing of it.
    func discard(_ begun: BegunJob) async throws {
        let failure = JobFailure(.imageCorrupt, at: .render, "as the test wants it")
        _ = try await store.settle(begun.job.claim, as: .discard(failure), timings: AttemptTimings())
    }

    /// Has a begun job try again at some other time, as a worker does whose source was too slow.
    func putOff(_ begun: BegunJob) async throws {
        let failure = JobFailure(.sourceTimeout, at: .fetch, "as the test wants it", isRetryable: true)
        let end = AttemptEnd.retry(failure, at: .distantFuture)
        _ = try await store.settle(begun.job.claim, as: end, timings: AttemptTimings())
    }

    struct BegunJob {
        fileprivate let job: ClaimedJob
        fileprivate let request: ThumbnailRequest
        fileprivate let sourceSeen: Int64
    }

    /// Keeps an original as a worker does that has fetched it with these headers: fresh for so many seconds from now on.
    func keep(
        _ uri: String,
        _ data: Data,
        mediaType: String? = nil,
        textEncoding: String? = nil,
        freshFor seconds: Double,
        headers: [String: String] = [:]
    ) async throws {
        let source = CachedSource(
            key: SourceKey(uri: uri, scope: RequestScope(headers: headers)),
            finalURL: uri,
            head: CacheableResponse(status: 200, requestTime: Date(), responseTime: Date()),
            mediaType: mediaType,
            textEncoding: textEncoding,
            freshUntil: Date(timeIntervalSinceNow: seconds),
            blob: BlobDigest(of: data),
            bytes: data.count,
            sourceSeen: try await store.nextSourceSeen(),
            peers: [Peer(origin: "https://example.com:443", .address("8.8.8.8"))]
        )
        try await store.keep(source, data: data, budget: nil)
    }

    private static func complete(
        _ job: ClaimedJob,
        _ request: ThumbnailRequest,
        with rendered: [RenderedThumbnail],
        sourceSeen: Int64,
        in store: any Store
    ) async throws {
        let provenance = Provenance(
            source: try SourceIdentity(of: request.source),
            sourceDigest: BlobDigest(of: Data(request.source.utf8)),
            sourceSeen: sourceSeen,
            rendererVersion: "test",
            picture: PictureFacts(format: .png, width: 640, height: 480, pages: 1, hasAlpha: false),
            isTruncated: false
        )
        try await store.settle(job.claim, as: .complete(.rendered(rendered, provenance)), timings: AttemptTimings())
    }

    /// The first bytes of a WebP file, its own number, and bytes that tell their place.
    static func picture(_ number: Int, bytes count: Int = 4_000) -> Data {
        let places = Data((0..<251).map { UInt8($0) })
        var data = Data("RIFF____WEBPVP8 \(number) ".utf8)
        while data.count < count { data += places }
        return data.prefix(count)
    }
}
