internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import ServiceLifecycle

/// Lists and changes jobs.
extension WebExchange {
    private static let jobsRange: ClosedRange<Int64> = 1...200

    func jobs() async throws -> Response {
        guard let rest = target.firstSegment.rest else {
            switch request.method {
            case .get, .head: return try await listJobs()
            case .post: return try await enqueue()
            default: throw Problem.methodNotAllowed("GET, HEAD, POST")
            }
        }
        if let change = BulkChange(rawValue: String(rest)) {
            try check(allows: .post)
            return try await changeAll(by: change)
        }
        let (number, verb) = RequestTarget.split(rest)
        guard let id = Int64(number), id > 0, number.first != "+" else { throw Self.nothing }
        guard let verb else {
            try check(allows: .get, .head)
            return try await job(id)
        }
        guard let change = BulkChange(rawValue: String(verb)) else { throw Self.nothing }
        try check(allows: .post)
        return try await self.change(id, by: change)
    }

    private static let nothing = Problem(
        .notFound,
        "nothing here: the paths are /jobs, /jobs/ID, /jobs/ID/cancel, /jobs/ID/retry, /jobs/cancel and /jobs/retry"
    )

    // MARK: - Reading

    private func job(_ id: Int64) async throws -> Response {
        try admit(.read, ["wait"])
        let patience = try target.query.wait()
        if patience > .zero {
            _ = try? await cancelWhenGracefulShutdown { [site] in
                try await site.changes.first(of: id, within: patience) { () async throws(StoreError) -> Bool? in
                    try await site.store.places(of: [id])[id]?.state.isFinal == false ? nil : true
                }
            }
        }
        return try Response(message: ServedMessage(try await site.store.jobInPlace(of: id), site))
    }

    private func listJobs() async throws -> Response {
        try admit(.read, Self.filters + ["limit", "cursor"])
        var filter = try filter()
        filter.before = try target.query.integer("cursor", in: 1...Int64.max)
        filter.limit = Int(try target.query.integer("limit", in: Self.jobsRange) ?? 50)
        let jobs = try await site.store.jobs(filter)
        let cursor = jobs.count == filter.limit ? jobs.last.map { JSONValue.integer($0.id) } : nil
        return try Response(message: Page(jobs: jobs.map { ServedMessage($0, site) }, cursor: cursor ?? .null))
    }

    private struct Page: Encodable {
        let jobs: [ServedMessage]
        /// What leads to the next page; null if this is the last.
        let cursor: JSONValue
    }

    private static let filters = [
        "state", "queue", "batch", "label", "concurrencyKey", "tenant", "code", "source", "since",
    ]

    private func filter() throws(Problem) -> JobFilter {
        var filter = JobFilter()
        filter.states = try target.query.words("state", JobState.self)
        filter.codes = try target.query.words("code", JobFailure.Code.self)
        filter.queue = target.query["queue"]
        filter.batch = target.query["batch"]
        (filter.label, filter.concurrencyKey) = (target.query["label"], target.query["concurrencyKey"])
        filter.tenant = target.query["tenant"]
        filter.sourcePrefix = target.query["source"].flatMap { $0.isEmpty ? nil : $0 }
        filter.createdSince = try target.query.time("since")
        return filter
    }

    /// Counts the newest discarded jobs by failure code, and those of each code by reason, with the newest job of each as an
    /// example.
    func failures() async throws -> Response {
        try admit(.read)
        var filter = JobFilter()
        filter.states = [.discarded]
        filter.limit = Int(Self.jobsRange.upperBound)
        let jobs = try await site.store.jobs(filter)
        let codes = Dictionary(grouping: jobs.filter { $0.failure != nil }) { $0.failure?.code ?? .unknown }
            .map { code, jobs in
                let reasons = Dictionary(grouping: jobs, by: Self.reason).values.sorted {
                    ($1.count, $1[0].id) < ($0.count, $0[0].id)
                }
                return Failures.Code(
                    code: code,
                    count: jobs.count,
                    example: ServedMessage(jobs[0], site),
                    reasons: reasons.prefix(Self.maximumReasons).map {
                        Failures.Reason(count: $0.count, example: ServedMessage($0[0], site))
                    }
                )
            }
        let sorted = codes.sorted { ($1.count, $0.code.rawValue) < ($0.count, $1.code.rawValue) }
        return try Response(message: Failures(newest: jobs.count, codes: sorted))
    }

    /// The most reasons that are told of a code.
    private static let maximumReasons = 20

    /// Why a job failed, but for what is its own: its source's name, and numbers.
    private static func reason(of job: Job) -> String {
        let message = job.failure?.message ?? ""
        return (job.source.map { message.replacing(SourceName.of($0), with: "") } ?? message).filter { !$0.isNumber }
    }

    private struct Failures: Encodable {
        struct Reason: Encodable {
            let count: Int
            let example: ServedMessage
        }

        struct Code: Encodable {
            let code: JobFailure.Code
            let count: Int
            let example: ServedMessage
            let reasons: [Reason]
        }

        let newest: Int
        let codes: [Code]
    }

    // MARK: - Writing

    private func change(_ id: Int64, by change: BulkChange) async throws -> Response {
        let name = try admit(.operate)
        let before: JobState
        switch change {
        case .cancel: before = try await site.store.cancel(id)
        case .retry: before = try await site.store.retry(id).before
        }
        let metadata: Logger.Metadata = [
            "by": "\(name)", "change": "\(change)", "job": .stringConvertible(id), "state": "\(before.rawValue)",
        ]
        site.logger.notice("job changed", metadata: metadata)
        let job = try await site.store.jobInPlace(of: id)
        guard site.configuration.tokens.allow(.read, to: request) else {
            return Response(json: ["id": .integer(job.id), "state": .string(job.state.rawValue)])
        }
        return try Response(message: ServedMessage(job, site))
    }

    /// Changes all jobs that match the query's filter.
    private func changeAll(by change: BulkChange) async throws -> Response {
        let name = try admit(.operate, Self.filters)
        var filter = try filter()
        guard filter != JobFilter() else {
            let names = Self.filters.joined(separator: ", ")
            throw Problem(.badRequest, "a filter is required, one of \(names): otherwise all jobs would be changed")
        }
        filter = try Result { () throws(BulkChange.Inapplicable) in try change.meant(by: filter) }
            .mapError { Problem(.badRequest, "state=\($0.state.rawValue): such jobs cannot be changed by \(change)") }
            .get()
        filter.limit = .max
        var changed = 0
        defer {
            let metadata: Logger.Metadata = [
                "by": "\(name)", "change": "\(change)", "filter": "\(target.query)",
                "count": .stringConvertible(changed),
            ]
            site.logger.notice("jobs changed", metadata: metadata)
        }
        // A shutdown ends it between two transactions; what was done is kept.
        _ = try await site.store.change(filter, by: change) { progress in
            changed = progress.changed
            guard !Task.isShuttingDownGracefully else {
                throw Problem(.serviceUnavailable, "the server is shutting down; \(changed) jobs were changed")
            }
        }
        return Response(json: ["changed": .integer(Int64(changed))])
    }
}

/// A message as served over HTTP: the wire format, with this server's paths added to each thumbnail.
struct ServedMessage: Encodable {
    private enum Field: String, CodingKey {
        case thumbnails
    }

    private let message: any Encodable & Sendable
    private let thumbnails: [ServedThumbnail]

    /// A job without secrets.
    init(_ job: Job, _ site: Site) {
        message = job.withoutSecrets
        thumbnails = job.thumbnails.map { ServedThumbnail($0, of: job.id, site) }
    }

    init(_ receipt: EnqueueReceipt, _ site: Site) {
        message = receipt
        thumbnails = receipt.thumbnails.map { ServedThumbnail($0, of: receipt.id, site) }
    }

    func encode(to encoder: any Encoder) throws {
        try message.encode(to: encoder)
        var members = encoder.container(keyedBy: Field.self)
        try members.encode(thumbnails, forKey: .thumbnails)
    }
}

/// A thumbnail with this server's paths. The `url` of one not made yet names its job, so that it can report a failure.
private struct ServedThumbnail: Encodable {
    private struct Paths: Encodable {
        let url: String
        let blobURL, placeholderURL: String?
    }

    private let thumbnail: RequestedThumbnail
    private let paths: Paths

    init(_ thumbnail: RequestedThumbnail, of job: Int64?, _ site: Site) {
        self.thumbnail = thumbnail
        let query = thumbnail.blob == nil ? job.map { "?job=\($0)" } ?? "" : ""
        var placeholder: String?
        if thumbnail.thumbHash != nil, case .thumbnail(let id) = thumbnail.uri {
            placeholder = "\(site.configuration.basePath)/placeholder/\(id)"
        }
        paths = Paths(
            url: site.path(to: thumbnail.uri) + query,
            blobURL: thumbnail.blob.map(site.path(to:)),
            placeholderURL: placeholder
        )
    }

    func encode(to encoder: any Encoder) throws {
        try thumbnail.encode(to: encoder)
        try paths.encode(to: encoder)
    }
}

/// Lists batches, reports one, and serves its thumbnails.
extension WebExchange {
    private static let batchesRange: ClosedRange<Int64> = 1...100

    func batches() async throws -> Response {
        if let rest = target.firstSegment.rest, rest.hasSuffix("/seal") {
            try check(allows: .post)
            return try await seal(batch: RequestTarget.decoded(rest.dropLast("/seal".count)))
        }
        try check(allows: .get, .head)
        guard let rest = target.firstSegment.rest else { return try await listBatches() }
        try admit(.read, ["as"])
        let name = try RequestTarget.decoded(rest)
        switch target.query["as"] {
        case nil, "json": return try Response(message: try await site.store.batch(name))
        case "zip":
            let archive = BatchArchive(store: site.store, batch: name, channel: context.channel)
            guard try await !archive.page().thumbnails.isEmpty else {
                throw Problem(.notFound, "there is no thumbnail of a batch \(name)")
            }
            // Old clients know the first one alone (RFC 6266, section 4.3).
            let plain = name.replacing(#/[^A-Za-z0-9._ -]/#, with: "_")
            let names = "filename=\"\(plain).zip\"; filename*=UTF-8''\(PercentEncoding.encoded(name)).zip"
            let headers: HTTPFields = [
                .contentType: "application/zip", .contentDisposition: "attachment; \(names)",
            ]
            return Response(status: .ok, headers: headers, body: archive.responseBody)
        case let form?: throw Problem(.badRequest, "as=\(form): must be json or zip")
        }
    }

    /// `POST /batches/NAME/seal`, with a body that may name a hook.
    private func seal(batch name: String) async throws -> Response {
        try admit(.enqueue)
        let body = try RequestBodyReader(request, context, site)
        let bytes = try await body.read(atMost: Self.maximumSeal, "a seal")
        let json = bytes.isEmpty ? JSONValue.object([:]) : try JSONValue(reading: bytes, atMost: bytes.count)
        try await site.store.add(BatchSeal(batch: name, body: json))
        return try Response(message: Sealed(batch: name), status: .accepted)
    }

    private struct Sealed: Encodable {
        let batch: String
    }

    private static let maximumSeal = 4_096

    private func listBatches() async throws -> Response {
        try admit(.read, ["limit", "cursor"])
        let limit = try target.query.integer("limit", in: Self.batchesRange) ?? 20
        let cursor = try target.query.integer("cursor", in: 1...Int64.max)
        let page = try await site.store.batches(before: cursor, limit: Int(limit))
        return try Response(message: Batches(batches: page.batches, next: page.next))
    }

    private struct Batches: Encodable {
        let batches: [BatchReport]
        let next: Int64?
    }
}
