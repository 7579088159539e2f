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
    /// The claim has dealt with the ranks up to this one.
    var beyond = Int64.min

    /// Whether claiming from it depends on what other claims have taken.
    var isLimited: Bool { key != 0 || room != nil || hasRate }

    /// Background queues come after all others.
    static func precedes(_ first: OpenLane, _ second: OpenLane) -> Bool {
        if first.isBackground != second.isBackground { return second.isBackground }
        return (first.head, first.lane) < (second.head, second.lane)
    }

    /// Finds the lanes, without those of more than a number of keys in each queue.
    static func all(
        among queues: [String]?,
        withBackground: Bool,
        keys: Int,
        _ db: Database
    ) throws -> [OpenLane] {
        try db.query(
            """
            SELECT lane, key, queue, name, background, room, rated, place
            FROM open_lanes($1::text[], $2::boolean, $3::integer)
            """,
            [queues.map { SQLArray($0) }, withBackground, keys]
        )
        .map { row in
            OpenLane(
                lane: try row[0],
                key: try row[1],
                queue: try row[2],
                queueName: try row[3],
                isBackground: try row[4],
                room: try row[5],
                hasRate: try row[6],
                head: try row[7]
            )
        }
    }
}
