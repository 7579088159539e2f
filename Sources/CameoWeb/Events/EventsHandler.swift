internal import CameoModel
internal import CameoStore
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

/// Serves the changes of jobs' states as server-sent events
/// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
struct EventsHandler: WebHandler {
    let exchange: WebExchange

    func answer() async throws -> Response {
        try admit(.read, ["since", "state", "queue", "batch"])
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

/// The events after a cursor, sent as fast as the client takes them, until it leaves or the server shuts down.
struct EventStream: Sendable {
    let feed: ChangeFeed
    let start: Int64
    let filter: EventFilter
    /// The longest silence.
    let keepAlive: Duration
    let channel: any Channel

    /// How long a client may take nothing before its connection is closed. It resumes by its cursor.
    private static let patience = TimeAmount.seconds(30)

    var responseBody: ResponseBody {
        ResponseBody { writer in
            let listener = feed.listen()
            try await withGracefulShutdownHandler {
                defer { listener.end() }
                try await send(to: &writer, listener)
            } onGracefulShutdown: {
                listener.end()
            }
            try await writer.finish(nil)
        }
    }

    @concurrent
    private func send(to writer: inout any ResponseBodyWriter, _ listener: ChangeFeed.Listener) async throws {
        var signals = listener.signals.makeAsyncIterator()
        var cursor = start
        // The first one tells the client where it has begun, and that it is connected.
        try await write(Self.comment(at: cursor), to: &writer)
        var written = ContinuousClock.now
        while !Task.isShuttingDownGracefully {
            let events = try await feed.events(after: cursor)
            var text = ""
            if let first = events.first?.change.cursor, first > cursor + 1, cursor > 0 {
                text = Self.gap(from: cursor + 1, to: first - 1)
            }
            for event in events where filter.matches(event.change) { text += event.text }
            if let last = events.last { cursor = last.change.cursor }
            // Half the time, as the next signal may be as late as the last.
            if text.isEmpty, written.duration(to: .now) >= keepAlive / 2 { text = Self.comment(at: cursor) }
            if !text.isEmpty {
                try await write(text, to: &writer)
                written = .now
            }
            if events.isEmpty, await signals.next() == nil { return }
        }
    }

    /// A comment, and the cursor for `Last-Event-ID`: a filter may let nothing through for long.
    private static func comment(at cursor: Int64) -> String { ": keep-alive\nid: \(cursor)\n\n" }

    /// Changes that the store keeps no longer.
    private static func gap(from first: Int64, to last: Int64) -> String {
        "id: \(last)\nevent: gap\ndata: {\"from\":\(first),\"to\":\(last)}\n\n"
    }

    @concurrent
    private func write(_ text: String, to writer: inout any ResponseBodyWriter) async throws {
        // This makes a write that never ends fail.
        let timeout = channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        defer { timeout.cancel() }
        try await writer.write(ByteBuffer(string: text))
    }
}
