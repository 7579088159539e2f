import CacheConformance
import CameoFetch
import CameoModel
import CameoRenderer
import CameoSQLite
import CameoStore
import CameoSystem
import CameoWorker
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

/// A store of one test's own and a fetcher that caches in it, with a clock that the test moves. The server and everything
/// between it and the store are real.
final class CacheBench: Sendable {
    let folder: TemporaryFolder
    let clock: MovableClock
    let store: any Store
    let log: CollectedLog
    let fetcher: Fetcher

    init(
        _ rules: CacheRules = CacheRules(),
        budget: Int = 1 << 20,
        change: (inout FetchConfiguration) throws -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        clock = MovableClock()
        store = try SQLiteStore(at: folder.path("store"), clock: clock.storeClock)
        log = CollectedLog()
        fetcher = try Self.fetcher(
            rules,
            clock,
            StoredAnswers(store: store, budget: budget, logger: log.logger),
            change
        )
    }

    /// The fetcher of another worker on the same store, with a connection of its own.
    func anotherFetcher(
        _ rules: CacheRules = CacheRules(),
        change: (inout FetchConfiguration) throws -> Void = { _ in }
    ) throws -> Fetcher {
        let store: any Store = try SQLiteStore(at: folder.path("store"), clock: clock.storeClock)
        return try Self.fetcher(rules, clock, StoredAnswers(store: store, budget: 1 << 20, logger: log.logger), change)
    }

    static func fetcher(
        _ rules: CacheRules,
        _ clock: MovableClock,
        _ cache: any SourceCache,
        _ change: (inout FetchConfiguration) throws -> Void = { _ in }
    ) throws -> Fetcher {
        var configuration = FetchConfiguration()
        // An answer that is held back is not slow: on a busy machine, a test may take long to release it.
        configuration.lowSpeedTime = .seconds(300)
        configuration.totalTimeout = .seconds(300)
        configuration.hostPatience = .seconds(300)
        configuration.allowedNetworks = [AddressRange("127.0.0.0/8")].compactMap(\.self)
        configuration.caching = rules
        configuration.now = clock.now
        try change(&configuration)
        return try Fetcher(configuration, cache: cache)
    }

    /// Fetches a URI as a new job would on its first attempt, or on a later one.
    func fetch(
        _ uri: String,
        headers: [String: String] = [:],
        isFirstAttempt: Bool = true,
        asksServer: Bool = false,
        with fetcher: Fetcher? = nil
    ) async throws -> FetchedSource {
        let number = try await store.nextSourceSeen()
        // No fetch is shared: every job is newer than the fetches before it.
        let ticket = FetchTicket(
            sourceSeen: number,
            after: number,
            isFirstAttempt: isFirstAttempt,
            asksServer: asksServer
        )
        return try await (fetcher ?? self.fetcher).fetch(uri, headers: headers, ticket: ticket)
    }

    /// The outcome of a fetch in one line: how the source came and its bytes, or the failure's code.
    func outcome(
        _ uri: String,
        headers: [String: String] = [:],
        isFirstAttempt: Bool = true,
        asksServer: Bool = false,
        with fetcher: Fetcher? = nil
    ) async throws -> String {
        do {
            let source = try await fetch(
                uri,
                headers: headers,
                isFirstAttempt: isFirstAttempt,
                asksServer: asksServer,
                with: fetcher
            )
            return "\(source.arrival.name) \(try source.text())"
        } catch let failure as JobFailure {
            return failure.code.rawValue
        }
    }

    /// The path of a blob's file. Small blobs have none: they are in the database.
    func blobFile(_ digest: BlobDigest) -> String {
        folder.path("store/blobs/\(digest.hex.prefix(2))/\(digest.hex.dropFirst(2))")
    }
}

/// A renderer process that ends after the body.
func withRenderer(_ body: (RendererPool) async throws -> Void) async throws {
    let executable = Repository.builtProduct("cameo-renderer")
    let renderer = try RendererPool(RendererConfiguration(executable: executable, processes: 1))
    try await body(renderer)
    await renderer.shutdown()
}

extension CacheBench {
    /// Makes a worker on the store, for the body to run.
    func withWorker(
        _ configuration: WorkerConfiguration,
        observe: @escaping @Sendable (JobOutcome) -> Void = { _ in },
        _ body: (Worker) async throws -> Void
    ) async throws {
        try await withRenderer { renderer in
            let worker = Worker(
                id: "w1",
                configuration: configuration,
                store: store,
                fetcher: fetcher,
                renderer: renderer,
                logger: log.logger,
                observe: observe
            )
            try await body(worker)
        }
    }
}

extension FetchedSource {
    /// The source's bytes as text.
    func text() throws -> String {
        var bytes = [UInt8](repeating: 0, count: self.bytes + 1)
        let count = pread(file.descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes[..<(try #require(count >= 0 ? count : nil))], as: UTF8.self)
    }
}

extension MovableClock {
    var storeClock: StoreClock {
        StoreClock(now: now, uptime: { Int64(self.now().timeIntervalSince1970 * 1_000) })
    }
}

/// The log of a test: one line per message, followed by its metadata.
final class CollectedLog: Sendable {
    private struct Handler: LogHandler {
        let log: CollectedLog
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.add("\(event.level) \(event.message) \(event.metadata ?? [:])")
        }
    }

    private let collected = Mutex<[String]>([])

    var lines: [String] { collected.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private func add(_ line: String) {
        collected.withLock { $0.append(line) }
    }
}
