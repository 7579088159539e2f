internal import ArgumentParser
internal import CameoModel
internal import CommandSupport
internal import Foundation

/// When and how a job runs.
struct JobOptions: ParsableArguments {
    @Option(help: .value("name", "The queue."), completion: .queues)
    var queue: String = ThumbnailRequest.defaultQueue

    @Option(parsing: .unconditional, help: .value("number", "The priority, -100 to 100; higher runs first."))
    var priority: Int = 0

    @Option(help: .value("time", "Run no earlier than this time (2030-01-31T12:00:00Z)."))
    var at: String?

    @Option(
        parsing: .unconditional,
        help: .value("duration", "Run no earlier than this time from now (10m; at most 36500d).")
    )
    var `in`: DurationArgument?

    @Option(help: .value("label", "A label by which these jobs can be reported together."))
    var batch: String?

    @Option(help: .value("name", "The hook that is told when a job ends (cameo-worker --hooks)."))
    var hook: String?

    @Option(help: .value("number", "Attempts before a job is discarded, 1 to 25."))
    var maxAttempts: Int = ThumbnailRequest.defaultMaxAttempts

    @Option(
        help: .value(
            "duration",
            "The wait before the second attempt; doubled before each further one. (default: the worker's)"
        )
    )
    var retryBase: DurationArgument?

    @Option(help: .value("duration", "The longest wait between attempts. (default: the worker's)"))
    var retryCap: DurationArgument?

    @Option(help: .value("number", "The random share of each wait, 0 to 1. (default: the worker's)"))
    var retryJitter: Double?

    @Option(help: .value("duration", "The time limit of one attempt, 1s to 1h. (default: the worker's)"))
    var timeout: DurationArgument?

    @Option(
        help: .value(
            "when",
            """
            When to make existing thumbnails again: never, if-changed (if the source's bytes have changed) or \
            always.
            """
        )
    )
    var refresh: Refresh = .ifChanged

    @Option(
        help: .value(
            "key",
            "Join a waiting job with this key in the queue. (default: join one for the same thumbnails)"
        )
    )
    var uniqueKey: String?

    @Option(help: .value("key", "Jobs with the same key (a tenant, a host) share a limit of running jobs."))
    var concurrencyKey: String?

    @Option(help: .value("number", "Set the concurrency key's limit; a new key has 1."))
    var concurrencyLimit: Int?

    @Option(help: .value("header", "Send this header with requests to http(s) sources: 'Name: value'. Repeatable."))
    var header: [String] = []

    @Option(help: .value("json", "A JSON object that every report on the job repeats."))
    var metadata: String?

    func apply(to request: inout ThumbnailRequest) throws {
        request.queue = queue
        request.priority = priority
        request.batch = batch
        request.hook = hook
        request.maxAttempts = maxAttempts
        request.timeout = timeout?.seconds
        request.refresh = refresh
        request.uniqueKey = uniqueKey
        request.concurrencyKey = concurrencyKey
        request.concurrencyLimit = concurrencyLimit
        if retryBase != nil || retryCap != nil || retryJitter != nil {
            request.retry = RetryOverride(
                base: retryBase?.seconds,
                cap: retryCap?.seconds,
                jitter: retryJitter
            )
        }
        if let `in` { request.runAt = Date.now.addingTimeInterval(`in`.duration.seconds) }
        if let at { request.runAt = WireFormat.date(from: at) }
        request.metadata = try members()
        // For other sources, headers would change nothing but the thumbnails' URIs.
        if Self.isFetched(request.source) { request.headers = try fields() }
    }

    func validate() throws {
        guard at == nil || `in` == nil else { throw ValidationError("--at and --in cannot be combined") }
        if let at, WireFormat.date(from: at) == nil {
            throw ValidationError("--at \(at): must be a time such as 2030-01-31T12:00:00Z")
        }
        _ = try fields()
        _ = try members()
    }

    /// Throws if there are headers but no source to which they could be sent.
    func expectUse(of sources: [String]) throws {
        guard let header = header.first, !sources.contains(where: Self.isFetched) else { return }
        throw ValidationError(
            "--header \(header.prefix { $0 != ":" }): is only sent to http: and https: sources, but there is none"
        )
    }

    static func isFetched(_ source: String) -> Bool { SourceScheme(of: source)?.isWeb ?? false }

    private func fields() throws -> [String: String] {
        var fields: [String: String] = [:]
        for header in header {
            guard let colon = header.firstIndex(of: ":") else {
                throw ValidationError("--header \(header): must be 'Name: value'")
            }
            let value = header[header.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            let name = String(header[..<colon])
            guard fields.updateValue(value, forKey: name) == nil else {
                throw ValidationError("--header \(name): is given twice")
            }
        }
        return fields
    }

    private func members() throws -> [String: JSONValue] {
        guard let metadata else { return [:] }
        guard let json = try? JSONValue(parsing: metadata), case .object(let members) = json else {
            throw ValidationError("--metadata: must be a JSON object")
        }
        return members
    }
}
