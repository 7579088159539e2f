internal import CameoModel
internal import CameoStore
internal import HTTPTypes
internal import Hummingbird

/// Serves the changes of jobs' states as server-sent events
/// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
struct EventsHandler {
    let site: Site
    let request: Request
    let target: RequestTarget

    func answer(_ context: WebContext) async throws -> Response {
        try target.query.allow("since", "state", "queue", "batch")
        try site.configuration.tokens.demand(.read, of: request)
        let filter = EventFilter(
            states: Set(try target.query.words("state", JobState.self)),
            queue: target.query["queue"],
            batch: target.query["batch"]
        )
        let newest = try await site.store.lastChange()
        // A cursor beyond the newest change is another store's.
        let start = min(try cursor() ?? newest, newest)
        var headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        // nginx would otherwise collect events until its buffer is full.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return Response(
            status: .ok,
            headers: headers,
            body: EventStream(
                feed: site.feed,
                start: start,
                filter: filter,
                keepAlive: site.configuration.keepAlive,
                channel: context.channel
            ).responseBody
        )
    }

    /// The cursor to resume from; nil for the present. A browser that reconnects sends the header.
    private func cursor() throws(Problem) -> Int64? {
        let since = try target.query.integer("since", in: 0...Int64.max)
        guard let text = HTTPField.Name("Last-Event-ID").flatMap({ request.headers[$0] }), !text.isEmpty else {
            return since
        }
        guard let cursor = Int64(text), cursor >= 0 else {
            throw Problem(.badRequest, "Last-Event-ID: must be the id of an event, not \"\(text)\"")
        }
        return cursor
    }
}

/// Selects events.
struct EventFilter: Sendable {
    /// The states that are entered; empty: any.
    let states: Set<JobState>
    let queue: String?
    let batch: String?

    func matches(_ change: JobChange) -> Bool {
        guard states.isEmpty || states.contains(change.state) else { return false }
        if let queue, change.queue.map({ Self.isSame($0, queue) }) != true { return false }
        if let batch, change.batches?.contains(where: { Self.isSame($0, batch) }) != true { return false }
        return true
    }

    /// Compared by bytes: two names that only look alike are two queues.
    private static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}
