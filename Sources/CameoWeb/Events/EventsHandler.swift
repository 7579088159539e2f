internal import CameoModel
internal import CameoStore
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

/// Streams the changes of jobs' states.
extension WebExchange {
    /// Serves the changes of jobs' states as server-sent events
    /// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    func events() async throws -> Response {
        try admit(.read, ["since", "state", "queue", "batch", "ends"])
        let states = Set(try target.query.words("state", JobState.self))
        let (queue, batch) = (target.query["queue"], target.query["batch"])
        let ends = target.query["ends"] ?? "false"
        guard ["true", "false"].contains(ends) else {
            throw Problem(.badRequest, "ends=\(ends): must be true or false")
        }
        let cursor = try cursor()
        let watch = ends == "true" ? try await BatchEndWatch(site.store, after: cursor) : nil
        let first = try await site.feed.read(after: cursor)
        var headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        // nginx would otherwise collect events until its buffer is full.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        let stream = EventStream(site: site, channel: context.channel, first: first, ends: watch, batch: batch) {
            change in
            guard states.isEmpty || states.contains(change.state) else { return false }
            // Compared by bytes: two names that only look alike are two queues.
            if let queue, change.queue?.utf8.elementsEqual(queue.utf8) != true { return false }
            return batch.map { name in change.batches?.contains { $0.utf8.elementsEqual(name.utf8) } ?? false } ?? true
        }
        return Response(status: .ok, headers: headers, body: stream.responseBody)
    }

    /// The cursor to resume from; nil for the present. A browser that reconnects sends the header.
    private func cursor() throws(Problem) -> FeedCursor? {
        let since = try target.query.integer("since", in: 0...Int64.max)
        guard let text = HTTPField.Name("Last-Event-ID").flatMap({ request.headers[$0] }), !text.isEmpty else {
            return since.map { FeedCursor($0) }
        }
        guard let cursor = FeedCursor(text) else {
            throw Problem(.badRequest, "Last-Event-ID: must be the id of an event, not \"\(text)\"")
        }
        return cursor
    }
}

/// The events after a cursor, sent as fast as the client takes them, until it leaves or the server shuts down.
struct EventStream: Sendable {
    let site: Site
    let channel: any Channel
    let first: ChangeFeed.Page
    /// The ends of batches, if the client asks for them, and of which batch; nil: of all.
    let ends: BatchEndWatch?
    let batch: String?
    let isWanted: @Sendable (JobChange) -> Bool

    var responseBody: ResponseBody {
        ResponseBody { writer in
            let (signals, continuation) = site.feed.listen()
            try await withGracefulShutdownHandler {
                defer { continuation.finish() }
                try await send(to: &writer, signals)
            } onGracefulShutdown: {
                continuation.finish()
            }
            try await writer.finish(nil)
        }
    }

    @concurrent
    private func send(to writer: inout any ResponseBodyWriter, _ signals: AsyncStream<Void>) async throws {
        var news = signals.makeAsyncIterator()
        var (page, told, ends) = (first, first.start, ends)
        var written: ContinuousClock.Instant?
        while !Task.isShuttingDownGracefully {
            var text = ""
            if let gap = page.gap {
                told = page.start
                text = ServerSentEvent.gap(gap, before: told)
            }
            // Tells the client where it has begun, and that it is connected.
            if written == nil { text += ServerSentEvent.cursor(page.start) }
            for event in page.events where isWanted(event.change) {
                told = FeedCursor(event.change.cursor, in: page.next.epoch)
                text += event.text
            }
            for end in try await ends?.next() ?? [] where batch?.utf8.elementsEqual(end.batch.utf8) != false {
                let data = String(decoding: try WireFormat.encode(end), as: UTF8.self)
                text += ServerSentEvent.text("batch", data, at: told)
            }
            // Half the time, as the next signal may be as late as the last.
            if text.isEmpty, let written, written.duration(to: .now) >= site.configuration.keepAlive / 2 {
                // A filter may let nothing through for long.
                text = told == page.next ? ServerSentEvent.comment : ServerSentEvent.cursor(page.next)
                told = page.next
            }
            if !text.isEmpty {
                try await FileBody.write(ByteBuffer(string: text), to: &writer, on: channel)
                written = .now
            }
            if page.events.isEmpty, await news.next() == nil { return }
            page = try await site.feed.events(after: page.next)
        }
    }
}
