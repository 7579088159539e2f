internal import CameoModel
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

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
