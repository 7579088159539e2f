internal import CameoModel
internal import CameoStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// Enqueues, lists and changes jobs.
struct JobsHandler {
    let site: Site
    let request: Request
    let target: RequestTarget

    private static let limitRange: ClosedRange<Int64> = 1...200

    func answer() async throws -> Response {
        guard let rest = target.firstSegment.rest else {
            switch request.method {
            case .get, .head: return try await list()
            case .post: return try await enqueue()
            default: throw Problem.methodNotAllowed("GET, HEAD, POST")
            }
        }
        let (number, verb) = RequestTarget.split(rest)
        guard let id = Int64(number), id > 0, number.first != "+" else { throw Self.nothing }
        switch verb {
        case nil:
            try WebResponder.check(request, allows: .get, .head)
            return try await job(id)
        case "cancel", "retry":
            try WebResponder.check(request, allows: .post)
            return try await change(id, by: verb == "cancel" ? .cancel : .retry)
        default: throw Self.nothing
        }
    }

    private static let nothing = Problem(
        .notFound,
        "nothing here: the paths are /jobs, /jobs/ID, /jobs/ID/cancel and /jobs/ID/retry"
    )

    // MARK: - Reading

    private func job(_ id: Int64) async throws -> Response {
        try target.query.allow("wait")
        try site.configuration.tokens.demand(.read, of: request)
        let patience = try target.query.wait()
        let store = site.store
        let ended = try? await cancelWhenGracefulShutdown { [changes = site.changes] in
            try await changes.first(within: patience) { () async throws(StoreError) -> Job? in
                let job = try await store.jobInPlace(of: id)
                return job.state.isFinal ? job : nil
            }
        }
        let job: Job
        if let found = ended ?? nil { job = found } else { job = try await store.jobInPlace(of: id) }
        return Response(json: try JobView(job, site).json)
    }

    private func list() async throws -> Response {
        try target.query.allow("state", "queue", "batch", "code", "source", "limit", "cursor")
        try site.configuration.tokens.demand(.read, of: request)
        var filter = JobFilter()
        filter.states = try words("state", JobState.self)
        filter.codes = try words("code", JobFailure.Code.self)
        filter.queue = target.query["queue"]
        filter.batch = target.query["batch"]
        filter.sourcePrefix = target.query["source"].flatMap { $0.isEmpty ? nil : $0 }
        filter.before = try target.query.integer("cursor", in: 1...Int64.max)
        filter.limit = Int(try target.query.integer("limit", in: Self.limitRange) ?? 50)
        let jobs = try await site.store.jobs(filter)
        let isFull = jobs.count == filter.limit
        return Response(
            json: [
                "jobs": .array(try jobs.map { try JobView($0, site).json }),
                "cursor": isFull ? jobs.last.map { .integer($0.id) } ?? .null : .null,
            ]
        )
    }

    private func words<Word: RawRepresentable & CaseIterable>(_ name: String, _ type: Word.Type) throws(Problem)
        -> [Word]
    where Word.RawValue == String {
        var words: [Word] = []
        for text in target.query.list(name) {
            guard let word = Word(rawValue: text) else {
                let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
                throw Problem(.badRequest, "\(name)=\(text): must be a comma-separated list of \(known)")
            }
            words.append(word)
        }
        return words
    }

    /// Counts the newest discarded jobs by failure code, with the newest job of each code as an example.
    func failures() async throws -> Response {
        try target.query.allow()
        try site.configuration.tokens.demand(.read, of: request)
        var filter = JobFilter()
        filter.states = [.discarded]
        filter.limit = Int(Self.limitRange.upperBound)
        let jobs = try await site.store.jobs(filter)
        var counts: [JobFailure.Code: (count: Int, newest: Job)] = [:]
        for job in jobs {
            guard let failure = job.failure else { continue }
            counts[failure.code, default: (0, job)].count += 1
        }
        let sorted = counts.sorted { ($1.value.count, $0.key.rawValue) < ($0.value.count, $1.key.rawValue) }
        return Response(
            json: [
                "newest": .integer(Int64(jobs.count)),
                "codes": .array(
                    try sorted.map { code, entry in
                        [
                            "code": .string(code.rawValue), "count": .integer(Int64(entry.count)),
                            "example": try JobView(entry.newest, site).json,
                        ]
                    }
                ),
            ]
        )
    }

    // MARK: - Writing

    private func change(_ id: Int64, by change: BulkChange) async throws -> Response {
        try target.query.allow()
        let name = try site.configuration.tokens.demand(.operate, of: request)
        let before: JobState
        switch change {
        case .cancel: before = try await site.store.cancel(id)
        case .retry: before = try await site.store.retry(id).before
        }
        site.logger.notice(
            "job changed",
            metadata: [
                "by": "\(name)", "change": "\(change)", "job": .stringConvertible(id), "state": "\(before.rawValue)",
            ]
        )
        return Response(json: try JobView(try await site.store.jobInPlace(of: id), site).json)
    }

    private func enqueue() async throws -> Response {
        let name = try site.configuration.tokens.demand(.enqueue, of: request)
        let type = MediaTypeField(request.headers[.contentType] ?? "")
        let receipt: EnqueueReceipt
        switch type.essence {
        case "application/json":
            try target.query.allow()
            let body = try await body(atMost: ThumbnailRequest.maximumBytes, "a request")
            receipt = try await site.store.enqueue([ThumbnailRequest(parsing: body)])[0]
        case "multipart/form-data":
            try target.query.allow()
            receipt = try await enqueueForm(type)
        case _ where type.essence.hasPrefix("image/") || type.essence == "application/octet-stream":
            let asked = try PictureOptions(target.query, site.configuration.presets)
            let body = try await body(atMost: site.configuration.maximumUpload, "a picture")
            receipt = try await enqueue(asked, body)
        default:
            throw Problem(
                .unsupportedMediaType,
                "must be application/json (a request), image/… (a picture) or multipart/form-data, not \"\(type.essence)\""
            )
        }
        site.logger.info(
            "enqueued",
            metadata: [
                "by": "\(name)", "job": .stringConvertible(receipt.id ?? 0), "outcome": "\(receipt.outcome.rawValue)",
            ]
        )
        var response = Response(json: try ReceiptView(receipt, site).json, status: .created)
        if let id = receipt.id { response.headers[.location] = "\(site.configuration.basePath)/jobs/\(id)" }
        return response
    }

    private func enqueueForm(_ type: MediaTypeField) async throws -> EnqueueReceipt {
        guard let boundary = type["boundary"], (1...70).contains(boundary.utf8.count) else {
            throw Problem(.badRequest, "multipart/form-data needs a boundary of 1 to 70 characters")
        }
        // The request and the boundary lines come on top of the picture.
        let limit = site.configuration.maximumUpload + ThumbnailRequest.maximumBytes + 65_536
        let form = try MultipartForm(try await body(atMost: limit, "a form"), boundary: boundary)
        guard let picture = form["picture"] else {
            throw Problem(
                .unprocessableContent,
                "the form has no \"picture\" part",
                code: .requestInvalid,
                field: "picture"
            )
        }
        guard picture.count <= site.configuration.maximumUpload else {
            throw tooLarge("a picture", site.configuration.maximumUpload)
        }
        let asked = try PictureOptions(form, site.configuration.presets)
        return try await enqueue(asked, picture)
    }

    private func enqueue(_ asked: PictureOptions, _ picture: Data) async throws -> EnqueueReceipt {
        guard !picture.isEmpty else {
            throw Problem(.unprocessableContent, "the picture is empty", code: .requestInvalid, field: "picture")
        }
        return try await site.store.enqueue(asked.request, data: picture, cacheKey: asked.cacheKey)
    }

    /// Reads the whole body. A body that is too long or too slow closes the connection.
    private func body(atMost limit: Int, _ what: String) async throws -> Data {
        if let announced = request.headers[.contentLength].flatMap({ Int($0) }), announced > limit {
            throw tooLarge(what, limit)
        }
        let body = request.body
        let patience = site.configuration.bodyPatience
        return try await withThrowingTaskGroup(of: Data.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                var data = Data()
                for try await buffer in body {
                    guard data.count + buffer.readableBytes <= limit else { throw tooLarge(what, limit) }
                    data.append(contentsOf: buffer.readableBytesView)
                }
                return data
            }
            group.addTask {
                try await Task.sleep(for: patience)
                var problem = Problem(
                    .requestTimeout,
                    "the body did not arrive within \(patience.milliseconds) ms"
                )
                problem.endsConnection = true
                throw problem
            }
            return try await group.next() ?? Data()
        }
    }

    private func tooLarge(_ what: String, _ limit: Int) -> Problem {
        var problem = Problem(.contentTooLarge, "\(what) may have at most \(limit) bytes", code: .sourceTooLarge)
        problem.endsConnection = true
        return problem
    }
}
