internal import CameoStore

// DESIGN. By the standard, a block without data dispatches nothing; real clients hand their programs an empty message for
// it, some for every empty line once they have seen an id. So an id goes out with data alone, and a comment without an
// empty line after it. Some also deliver half an event when the connection is cut: the id is an event's last field, so
// that none is remembered whose data did not arrive.

/// The text of the events of `GET /events`.
enum ServerSentEvent {
    /// What keeps a connection alive that has nothing to tell.
    static let comment = ": keep-alive\n"

    /// Where the stream is: nothing up to here is of interest to its client.
    static func cursor(_ cursor: FeedCursor) -> String { text("cursor", "{\"cursor\":\(cursor.number)}", at: cursor) }

    /// See ``FeedPage/gap``. The stream goes on after `start`.
    static func gap(_ numbers: ClosedRange<Int64>, before start: FeedCursor) -> String {
        text("gap", "{\"from\":\(numbers.lowerBound),\"to\":\(numbers.upperBound)}", at: start)
    }

    static func text(_ name: String, _ data: String, at cursor: FeedCursor) -> String {
        "event: \(name)\ndata: \(data)\nid: \(cursor)\n\n"
    }
}
