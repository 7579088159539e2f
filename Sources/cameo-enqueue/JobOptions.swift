internal import ArgumentParser
internal import CameoModel
internal import CommandSupport
internal import Foundation

/// When and how a job runs.
struct JobOptions: ParsableArguments {
    @Option(help: "The queue.".taking("name"), completion: .queues)
    var queue: String = ThumbnailRequest.defaultQueue

    @Option(parsing: .unconditional, help: "The priority, -100 to 100; higher runs first.".taking("number"))
    var priority: Int = 0

    @Option(
        parsing: .unconditional,
        help: """
            Run no earlier than this time (2030-01-31T12:00:00Z), or so long from now (10m; at most 36500d).
            """.taking("time")
    )
    var at: TimeArgument?

    @Option(help: "A label by which these jobs can be reported together.".taking("label"))
    var batch: String?

    @Option(
        help: """
            The hook that is told once, when no job of the batch is left: the batch is sealed when this command ends \
            (cameo-worker --hooks).
            """.taking("name")
    )
    var batchHook: String?

    @Option(
        help: """
            What the thumbnails can be found and removed by, as long as they exist: user:42. At most 16, each of at most 200 \
            bytes. Repeatable.
            """.taking("label")
    )
    var label: [String] = []

    @Option(help: "The hook that is told when a job ends (cameo-worker --hooks).".taking("name"))
    var hook: String?

    @Option(help: "Attempts before a job is discarded, 1 to 25.".taking("number"))
    var maxAttempts: Int = ThumbnailRequest.defaultMaxAttempts

    @Option(
        help: """
            The waits between attempts: base, before the second one, doubled before each further one; cap, the longest; \
            jitter, the random share of each, 0 to 1. base=1s,cap=1h,jitter=0.2. Repeatable. (default: the worker's)
            """.taking("what=value"),
        transform: Change.reading([
            NamedValue("base", \.base) { try RenditionArgument.seconds($0) },
            NamedValue("cap", \.cap) { try RenditionArgument.seconds($0) },
            NamedValue("jitter", \.jitter),
        ])
    )
    var retry: [Change<RetryOverride>] = []

    @Option(help: "The time limit of one attempt, 1s to 1h. (default: the worker's)".taking("duration"))
    var timeout: Duration?

    @Option(
        help: """
            When to make existing thumbnails again: never, if-changed (if the source's bytes have changed) or \
            always.
            """.taking("when")
    )
    var refresh: Refresh = .ifChanged

    @Option(
        help: """
            Join a waiting job with this key in the queue. (default: join one for the same thumbnails)
            """.taking("key")
    )
    var uniqueKey: String?

    @Option(help: "Jobs with the same key (a tenant, a host) share a limit of running jobs.".taking("key"))
    var concurrencyKey: String?

    @Option(help: "Set the concurrency key's limit; a new key has 1.".taking("number"))
    var concurrencyLimit: Int?

    @Option(help: "Who asks: a fair queue is shared between tenants. (default: the concurrency key)".taking("name"))
    var tenant: String?

    @Option(help: "Send this header with requests to http(s) sources: 'Name: value'. Repeatable.".taking("header"))
    var header: [String] = []

    @Option(help: "A JSON object that every report on the job repeats.".taking("json"))
    var metadata: String?

    func apply(to request: inout ThumbnailRequest) throws {
        request.queue = queue
        request.priority = priority
        request.batch = batch
        request.labels = label
        request.hook = hook
        request.maxAttempts = maxAttempts
        request.timeout = timeout?.typedSeconds
        request.refresh = refresh
        request.uniqueKey = uniqueKey
        request.concurrencyKey = concurrencyKey
        request.concurrencyLimit = concurrencyLimit
        request.tenant = tenant
        if !retry.isEmpty {
            var policy = RetryOverride()
            retry.apply(to: &policy)
            request.retry = policy
        }
        request.runAt = at?.date
        request.metadata = try members()
        // For other sources, headers would change nothing but the thumbnails' URIs.
        if Self.isFetched(request.source) { request.headers = try fields() }
    }

    /// What the batch is sealed with; nil if it stays open.
    func seal() throws -> BatchSeal? {
        guard let batch, let batchHook else { return nil }
        do {
            return try BatchSeal(batch: batch, hook: batchHook)
        } catch {
            throw ValidationError("\(error.path == "hook" ? "--batch-hook" : "--batch"): \(error.reason)")
        }
    }

    func validate() throws {
        if batchHook != nil, batch == nil { throw ValidationError("--batch-hook needs --batch") }
        _ = try seal()
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
        do {
            let json = try JSONValue(reading: metadata.utf8, atMost: ThumbnailRequest.maximumBytes)
            if case .object(let members) = json { return members }
        } catch  where !error.path.isEmpty {
            throw ValidationError("--metadata: \(error)")
        } catch {}
        throw ValidationError("--metadata: must be a JSON object")
    }
}
