internal import CameoHTTPCache
package import CameoModel
package import CameoStore
package import Foundation
package import TestSupport
internal import Testing

/// A store of one test's own in a folder, and a worker's hand in it: jobs end with bytes that the test chooses, by the calls
/// that a real worker makes.
package protocol StoreBench: Sendable {
    var folder: TemporaryFolder { get }
    var store: any Store { get }
}

/// A job that a worker has claimed, and whose source it has read.
package struct BegunJob: Sendable {
    fileprivate let claim: Claim
    fileprivate let request: ThumbnailRequest
    fileprivate let sourceSeen: Int64
}

extension StoreBench {
    /// Runs statements as another program does, and returns what they print.
    @discardableResult
    package func sql(_ statements: String) async throws -> String {
        let script = ".timeout 120000\nPRAGMA wal_autocheckpoint=0;\n\(statements)\n"
        let result = try await run("sqlite3", ["\(store.location)/cameo.sqlite"], input: Data(script.utf8))
        try #require(result.exitStatus == 0, "\(result.errorText)")
        // The first line answers the PRAGMA.
        return result.outputText.split(separator: "\n").dropFirst().joined(separator: "\n")
    }

    /// A worker of the store that has done nothing yet.
    @discardableResult
    package func register(_ worker: String = "worker") async throws -> String {
        let description = WorkerDescription(id: worker, host: "host", pid: 1, version: "test", concurrency: 4)
        try await store.register(description)
        return worker
    }

    /// Claims the jobs that are due and reads their sources, as a worker does that then takes its time.
    package func begin(_ worker: String, atMost limit: Int) async throws -> [BegunJob] {
        let jobs = try await store.claim(limit: limit, for: worker)
        // Side by side, so that they share commits.
        return try await withThrowingTaskGroup(of: (Int, BegunJob).self) { group in
            for (index, job) in jobs.enumerated() {
                group.addTask { [store] in
                    let request = try ThumbnailRequest(parsing: job.request.utf8)
                    let seen = try await store.beginFetch(job.claim, of: request).sourceSeen
                    return (index, BegunJob(claim: job.claim, request: request, sourceSeen: seen))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    package func begin(_ worker: String) async throws -> BegunJob {
        try #require(try await begin(worker, atMost: 1).first)
    }

    /// Completes the jobs that are due for a registered worker, and returns how many they were. `bytes` is what is
    /// "rendered" for the rendition of this index, over all jobs.
    @discardableResult
    package func work(_ worker: String, bytes: (Int) -> Data) async throws -> Int {
        let begun = try await begin(worker, atMost: 1_000)
        var index = 0
        try await withThrowingTaskGroup(of: Void.self) { group in
            for job in begun {
                let rendered = job.request.renditions.map { _ in
                    defer { index += 1 }
                    return bytes(index)
                }
                group.addTask { try await complete(job, with: rendered) }
            }
            try await group.waitForAll()
        }
        return begun.count
    }

    /// Completes the jobs that are due, for all of whose renditions the same was "rendered".
    package func work(_ worker: String, with bytes: Data) async throws { try await work(worker) { _ in bytes } }

    package func complete(_ begun: BegunJob, with bytes: Data) async throws {
        try await complete(begun, with: begun.request.renditions.map { _ in bytes })
    }

    private func complete(_ begun: BegunJob, with bytes: [Data]) async throws {
        let request = begun.request
        let rendered = zip(try request.thumbnailIDs(), zip(request.renditions, bytes)).map { id, made in
            RenderedThumbnail(id: id, rendition: made.0, encoded: .made(of: made.1))
        }
        let provenance = Provenance(
            source: try SourceIdentity(of: request.source),
            sourceDigest: BlobDigest(of: bytes[0]),
            sourceSeen: begun.sourceSeen,
            rendererVersion: "test",
            picture: PictureFacts(format: .png, width: 640, height: 480, pages: 1, hasAlpha: false),
            isTruncated: false
        )
        try await end(begun, .complete(.rendered(rendered, provenance)))
    }

    /// Gives a begun job up, as a worker does whose renderer could make nothing of it.
    package func discard(_ begun: BegunJob) async throws {
        try await end(begun, .discard(JobFailure(.imageCorrupt, at: .render, "as the test wants it")))
    }

    /// Gives up the jobs that are due.
    package func discard(
        _ worker: String,
        _ code: JobFailure.Code = .imageCorrupt,
        _ message: (_ source: String) -> String = { _ in "as the test wants it" }
    ) async throws {
        for job in try await begin(worker, atMost: 100) {
            try await end(job, .discard(JobFailure(code, at: .render, message(SourceName.of(job.request.source)))))
        }
    }

    /// Has a begun job try again at some other time, as a worker does whose source was too slow.
    package func putOff(_ begun: BegunJob) async throws {
        let failure = JobFailure(.sourceTimeout, at: .fetch, "as the test wants it", isRetryable: true)
        try await end(begun, .retry(failure, at: .distantFuture))
    }

    private func end(_ begun: BegunJob, _ end: AttemptEnd) async throws {
        _ = try await store.settle(begun.claim, as: end, timings: AttemptTimings())
    }

    /// Keeps an original as a worker does that has fetched it with these headers: fresh for so many seconds from now on.
    package func keep(
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

    /// The first bytes of a WebP file, its own number, and bytes that tell their place.
    package static func picture(_ number: Int = 0, bytes count: Int = 4_000) -> Data {
        let places = Data((0..<251).map { UInt8($0) })
        var data = Data("RIFF____WEBPVP8 \(number) ".utf8)
        while data.count < count { data += places }
        return data.prefix(count)
    }
}
