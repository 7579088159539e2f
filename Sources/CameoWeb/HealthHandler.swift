internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Synchronization

/// Serves health checks, the status and metrics to monitors.
extension WebExchange {
    /// Serves `live`, which succeeds while the process responds, and `ready`, which also checks the store and its
    /// workers.
    func health() async throws -> Response {
        try target.query.allow()
        switch target.firstSegment.rest {
        case "live": return Response(json: ["status": "ok"])
        case "ready": return try await ready()
        default: throw Problem(.notFound, "nothing here: the paths are /health/live and /health/ready")
        }
    }

    private func ready() async throws -> Response {
        let checks = await site.readiness.checks(site)
        let isReady = checks.allSatisfy { $0.reason == nil }
        var members: [String: JSONValue] = [:]
        let mayRead = site.configuration.tokens.allow(.read, to: request)
        for check in checks {
            let isPrivate = check.isOfStore && !mayRead
            members[check.name] = check.reason.map { .string(isPrivate ? Problem.ofStore : $0) } ?? "ok"
        }
        return Response(
            json: ["status": isReady ? "ok" : "failing", "checks": .object(members)],
            status: isReady ? .ok : .serviceUnavailable
        )
    }

    func status() async throws -> Response {
        try admit(.read)
        return try Response(message: try await site.store.status())
    }

    func metrics() async throws -> Response {
        try target.query.allow()
        let store = site.store
        let ofStore = try? await answerInTime { try await MetricsText(of: store, by: "cameo-web") }
        var metrics = ofStore ?? MetricsText()
        metrics.countersSince = site.startedAt
        let up = "1 while the store answers this server within 5 seconds; else only the server's own metrics are here."
        metrics.add("cameo_store_up", .gauge, up, ofStore == nil ? 0 : 1)
        let counts = site.counters.all
        func each(_ number: (RequestCounters.Counts) -> Int) -> [MetricsText.Sample] {
            counts.map { .init(number($0.counts), ["route": $0.key.route.rawValue, "status": "\($0.key.status)"]) }
        }
        metrics.add("cameo_web_requests", .counter, "Requests that this server has answered.", each(\.requests))
        let bytes = "Bytes of response bodies that this server has sent."
        metrics.add("cameo_web_response_bytes", .counter, bytes, each(\.bytes))
        let memory = site.memory.use
        let reads = "Reads of thumbnails and other bytes, by whether this server had them in memory."
        let results: [MetricsText.Sample] = [
            .init(memory.hits, ["result": "hit"]), .init(memory.misses, ["result": "miss"]),
        ]
        metrics.add("cameo_web_memory_reads", .counter, reads, results)
        let held = "The size of the recently read bytes that this server holds in memory."
        metrics.add("cameo_web_memory_bytes", .gauge, held, memory.bytes)
        let start = MetricsText.Sample(site.startedAt.timeIntervalSince1970)
        metrics.add("process_start_time_seconds", .gauge, "When this server started, in seconds since 1970.", [start])
        let accepted = request.headers[values: .accept].joined(separator: ",")
        let format: MetricsText.Format = accepted.contains("application/openmetrics-text") ? .openMetrics : .prometheus
        return Response(text: metrics.text(in: format), contentType: format.mediaType)
    }
}

/// The answer of a store, or of one that is silent for longer than monitors wait. Reads of a store do not end with their
/// task, so this one is left to end by itself.
private func answerInTime<Value: Sendable>(
    _ read: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let (answers, first) = AsyncStream<Result<Value, any Error>>.makeStream(bufferingPolicy: .bufferingOldest(1))
    Task {
        do { first.yield(.success(try await read())) } catch { first.yield(.failure(error)) }
    }
    let limit = Task {
        try await Task.sleep(for: .seconds(5))
        first.yield(.failure(NoAnswer()))
    }
    defer { limit.cancel() }
    for await answer in answers { return try answer.get() }
    throw CancellationError()
}

private struct NoAnswer: Error, CustomStringConvertible {
    let description = "no answer within 5 seconds"
}

/// The checks of `/health/ready`. They cost a commit and a read of the bytes' place, so requests within three seconds share
/// one result.
final class Readiness: Sendable {
    struct Check: Sendable {
        let name: String
        /// Why the check fails; nil if it passes.
        let reason: String?
        /// Whether the reason is an error of the store, which may name files and addresses.
        var isOfStore = false
    }

    private static let lifetime = Duration.seconds(3)
    private let last = Mutex<(at: ContinuousClock.Instant, checks: [Check])?>(nil)

    func checks(_ site: Site) async -> [Check] {
        if let last = last.withLock({ $0 }), last.at.duration(to: .now) < Self.lifetime { return last.checks }
        let store = site.store
        async let writes = Self.isWritable(store)
        async let bytes = Self.check("bytes") { _ = try await store.othersBytes() }
        async let work = Self.isWorkedOn(site)
        var checks = await [writes, bytes] + work
        if let wait = store.commitWait { checks.append(Check(name: "commits", reason: wait, isOfStore: true)) }
        // The checks of a client that has gone were broken off.
        if !Task.isCancelled { last.withLock { $0 = (.now, checks) } }
        return checks
    }

    private static func isWritable(_ store: any WorkerStore) async -> Check {
        guard store.isInPlace else { return Check(name: "store", reason: "the store was removed or replaced") }
        // The cheapest write: it advances a counter, and the number is not used.
        return await check("store") { _ = try await store.nextSourceSeen() }
    }

    private static func check(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> Void
    ) async -> Check {
        do {
            try await answerInTime(body)
            return Check(name: name, reason: nil)
        } catch {
            return Check(name: name, reason: "\(error)", isOfStore: true)
        }
    }

    private static func isWorkedOn(_ site: Site) async -> [Check] {
        let store = site.store
        let report: StatusReport
        do {
            report = try await answerInTime { try await store.status() }
        } catch {
            return [Check(name: "status", reason: "\(error)", isOfStore: true)]
        }
        // The rules of `cameo-status health`.
        let checks = HealthReport(report, workers: 1, maxLag: site.configuration.maximumLag).checks
        // What was not delivered or followed keeps nobody from being served.
        return checks.filter { ![.hooks, .tables].contains($0.name) }.map { check in
            Check(name: check.name.rawValue, reason: check.isHealthy ? nil : check.detail)
        }
    }
}

/// Counts of the requests answered since the server started.
final class RequestCounters: Sendable {
    struct Key: Hashable, Sendable {
        let route: Route
        let status: Int
    }

    /// The bytes are those of the response bodies.
    typealias Counts = (requests: Int, bytes: Int)

    private let counts = Mutex<[Key: Counts]>([:])

    func count(_ route: Route, _ status: Int, bytes: Int) {
        counts.withLock { counts in
            counts[Key(route: route, status: status), default: (0, 0)].requests += 1
            counts[Key(route: route, status: status), default: (0, 0)].bytes += bytes
        }
    }

    /// All counts, sorted by route and status.
    var all: [(key: Key, counts: Counts)] {
        counts.withLock { counts in counts.map { ($0.key, $0.value) } }
            .sorted { ($0.key.route.rawValue, $0.key.status) < ($1.key.route.rawValue, $1.key.status) }
    }
}
