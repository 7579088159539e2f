internal import CameoQueue

/// A lane that a claim may take jobs from.
struct OpenLane {
    let lane: Int64
    let key: Int64
    let queue: Int64
    let queueName: String
    let isBackground: Bool
    /// The number of further jobs that the queue's limit allows; nil: any number.
    let room: Int?
    let hasRate: Bool
    /// A lower bound of the lowest rank in it.
    var head: Int64
    /// The claim has dealt with the ranks up to this one. At first there was nothing below the head when the lanes were
    /// looked at, so that the claim need not pass the dead entries that others have left there.
    var beyond: Int64

    /// Whether claiming from it depends on what other claims have taken.
    var isLimited: Bool { key != 0 || room != nil || hasRate }

    /// Background queues come after all others.
    static func precedes(_ first: OpenLane, _ second: OpenLane) -> Bool {
        if first.isBackground != second.isBackground { return second.isBackground }
        return (first.head, first.lane) < (second.head, second.lane)
    }

    /// The columns of `open_lanes` in the order of ``init(_:from:)``.
    static let columns = "lane, key, queue, name, background, room, rated, place"

    /// Reads ``columns``, the first of which is at an index.
    init(_ row: Row, from first: Int) throws {
        lane = try row[first]
        key = try row[first + 1]
        queue = try row[first + 2]
        queueName = try row[first + 3]
        isBackground = try row[first + 4]
        room = try row[first + 5]
        hasRate = try row[first + 6]
        head = try row[first + 7]
        beyond = head - 1
    }

    /// Finds the lanes, without those of more than a number of keys in each queue.
    static func all(
        among queues: [String]?,
        withBackground: Bool,
        keys: Int,
        _ db: PostgreSQLTransaction
    ) throws -> [OpenLane] {
        try db.query(
            "SELECT \(columns) FROM open_lanes($1::text[], $2::boolean, $3::integer)",
            [queues.map { SQLArray($0) }, withBackground, keys]
        )
        .map { try OpenLane($0, from: 0) }
    }
}
