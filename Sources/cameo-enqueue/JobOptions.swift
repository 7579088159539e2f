internal import ArgumentParser
internal import CameoModel
internal import CommandSupport
internal import Foundation

/// How and when a job runs.
struct JobOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The queue's name.", valueName: "name"), completion: .queues)
    var queue: String = ThumbnailRequest.defaultQueue

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("-100 to 100, higher first.", valueName: "number")
    )
    var priority: Int = 0

    @Option(help: ArgumentHelp("Not before this time: 2030-01-31T12:00:00Z.", valueName: "time"))
    var at: String?

    @Option(
        name: .customLong("in"),
        parsing: .unconditional,
        help: ArgumentHelp("Not before so much time has passed: 10m; at most 36500d.", valueName: "duration")
    )
    var delay: DurationArgument?

    @Option(help: ArgumentHelp("A label to ask for these jobs together.", valueName: "label"))
    var batch: String?

    @Option(help: ArgumentHelp("Attempts before a job is given up, 1 to 25.", valueName: "number"))
    var maxAttempts: Int = ThumbnailRequest.defaultMaxAttempts

    @Option(
        help: ArgumentHelp(
            "The wait before the second attempt; each further one is twice as long. (default: the worker's)",
            valueName: "duration"
        )
    )
    var retryBase: DurationArgument?

    @Option(help: ArgumentHelp("The longest wait between attempts. (default: the worker's)", valueName: "duration"))
    var retryCap: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Which part of a wait is left to chance, 0 to 1. (default: the worker's)",
            valueName: "number"
        )
    )
    var retryJitter: Double?

    @Option(
        help: ArgumentHelp("How long one attempt may take, 1s to 1h. (default: the worker's)", valueName: "duration")
    )
    var timeout: DurationArgument?

    @Option(
        help: ArgumentHelp(
            """
            When thumbnails that exist already are made anew: never, if-changed (the source's bytes have changed), or \
            always.
            """,
            valueName: "when"
        )
    )
    var refresh: Refresh = .ifChanged

    @Option(
        help: ArgumentHelp(
            "Requests of one queue and key are one job while it waits. (default: those for the same thumbnails are)",
            valueName: "key"
        )
    )
    var uniqueKey: String?

    @Option(
        help: ArgumentHelp(
            "Jobs of one key, as a tenant or a host, share a limit of running at once.",
            valueName: "key"
        )
    )
    var concurrencyKey: String?

    @Option(
        help: ArgumentHelp("The key's limit from now on. A new key has 1.", valueName: "number")
    )
    var concurrencyLimit: Int?

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "Sent with the request for an http(s) source: 'Name: value'. Repeatable.",
            valueName: "header"
        )
    )
    var headers: [String] = []

    @Option(help: ArgumentHelp("A JSON object that comes back in every report on the job.", valueName: "json"))
    var metadata: String?

    /// Those that were typed with another value than their default.
    var given: [String] {
        [
            ("--queue", queue != ThumbnailRequest.defaultQueue), ("--priority", priority != 0), ("--at", at != nil),
            ("--in", delay != nil), ("--retry-base", retryBase != nil), ("--retry-cap", retryCap != nil),
            ("--retry-jitter", retryJitter != nil), ("--refresh", refresh != .ifChanged),
            ("--unique-key", uniqueKey != nil), ("--concurrency-key", concurrencyKey != nil),
            ("--concurrency-limit", concurrencyLimit != nil),
            ("--batch", batch != nil), ("--max-attempts", maxAttempts != ThumbnailRequest.defaultMaxAttempts),
            ("--timeout", timeout != nil), ("--header", !headers.isEmpty), ("--metadata", metadata != nil),
        ]
        .filter(\.1).map(\.0)
    }

    func apply(to request: inout ThumbnailRequest) throws {
        request.queue = queue
        request.priority = priority
        request.batch = batch
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
        if let delay { request.runAt = Date.now.addingTimeInterval(delay.duration.seconds) }
        if let at { request.runAt = WireFormat.date(from: at) }
        request.metadata = try members()
        // Of other sources nothing but their URIs would change.
        if Self.isFetched(request.source) { request.headers = try fields() }
    }

    func validate() throws {
        guard at == nil || delay == nil else { throw ValidationError("--at and --in: give one of them") }
        if let at, WireFormat.date(from: at) == nil {
            throw ValidationError("--at \(at): must be a time such as 2030-01-31T12:00:00Z")
        }
        _ = try fields()
        _ = try members()
    }

    /// Headers go with the requests of those sources that are fetched; at least one has to be.
    func expectUse(of sources: [String]) throws {
        guard let header = headers.first, !sources.contains(where: Self.isFetched) else { return }
        throw ValidationError(
            "--header \(header.prefix { $0 != ":" }): is sent to http: and https: sources, and there is none"
        )
    }

    private static func isFetched(_ source: String) -> Bool {
        URIScheme.of(source).map(["http", "https"].contains) ?? false
    }

    private func fields() throws -> [String: String] {
        var fields: [String: String] = [:]
        for header in headers {
            guard let colon = header.firstIndex(of: ":") else {
                throw ValidationError("--header \(header): must be 'Name: value'")
            }
            let value = header[header.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            let name = String(header[..<colon])
            guard fields.updateValue(value, forKey: name) == nil else {
                throw ValidationError("--header \(name): is there twice")
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
