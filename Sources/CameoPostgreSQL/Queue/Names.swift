internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// Names that rows reference by number. Who looks one up to insert such a row keeps it from being removed.
extension PostgreSQLTransaction {
    /// Finds or creates a queue.
    package func queue(_ name: String) throws -> Int64 {
        if let id = ledger.queueIDs[name] { return id }
        try holdNames()
        let row = try row("SELECT id, hook IS NOT NULL FROM queue WHERE name = $1", [name])
        let id: Int64 = try row.map { try $0[0] } ?? create("queue", name)
        if try row?[1] == true { ledger.hookedQueues.insert(id) }
        ledger.queueIDs[name] = id
        return id
    }

    /// Whether a queue that was looked up names a hook.
    package func isHooked(queue: Int64) -> Bool { ledger.hookedQueues.contains(queue) }

    /// Finds or creates a batch.
    package func batch(_ name: String) throws -> Int64 {
        try holdNames()
        return try value("SELECT id FROM batch WHERE name = $1", [name]) ?? create("batch", name)
    }

    /// Finds or creates a key. The latest request that names a limit sets it, unless an operator has set one; by
    /// default one job runs at a time.
    package func key(_ name: String, limit: Int?) throws -> Int64 {
        let known = Ledger.NamedLimit(name: ExactText(name), limit: limit)
        if let id = ledger.keyIDs[known] { return id }
        let id = try findKey(name, limit: limit)
        ledger.keyIDs[known] = id
        return id
    }

    private func findKey(_ name: String, limit: Int?) throws -> Int64 {
        try holdNames()
        guard let row = try row("SELECT id, max_running, fixed FROM key WHERE name = $1", [name]) else {
            try execute(
                "INSERT INTO key(name, max_running) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                [name, limit ?? 1]
            )
            guard let id: Int64 = try value("SELECT id FROM key WHERE name = $1", [name]) else {
                throw StoreError.failed("key \(name) was removed")
            }
            return id
        }
        let id: Int64 = try row[0]
        if let limit, try row[1] != limit, try !row[2] {
            try execute("UPDATE key SET max_running = $1 WHERE id = $2 AND NOT fixed", [limit, id])
            ledger.wakesWorkers = true
        }
        return id
    }

    /// Finds or creates a lane.
    package func lane(queue: Int64, key: Int64) throws -> Int64 {
        let place = Ledger.Place(queue: queue, key: key)
        if let id = ledger.laneIDs[place] { return id }
        try holdNames()
        let find = "SELECT id FROM lane WHERE queue = $1 AND key = $2"
        var id: Int64? = try value(find, [queue, key])
        if id == nil {
            try execute("INSERT INTO lane(queue, key) VALUES ($1, $2) ON CONFLICT DO NOTHING", [queue, key])
            id = try value(find, [queue, key])
        }
        guard let id else { throw StoreError.failed("a lane of queue \(queue) was removed") }
        ledger.laneIDs[place] = id
        return id
    }

    /// Finds or creates the names of requests, in the same order in every transaction: each locks those that it creates
    /// until its end.
    func findNames(of new: [NewJob]) throws {
        let requests = new.map(\.request)
        for name in Set(requests.map(\.queue)).sorted() { _ = try queue(name) }
        let keyed = requests.enumerated().compactMap { place, request in
            request.concurrencyKey.map { (name: $0, place: place, limit: request.concurrencyLimit) }
        }
        // The latest limit of a key counts.
        for key in keyed.sorted(by: { ($0.name, $0.place) < ($1.name, $1.place) }) {
            _ = try self.key(key.name, limit: key.limit)
        }
        let places = try requests.map { request in
            Ledger.Place(
                queue: try queue(request.queue),
                key: try request.concurrencyKey.map { try key($0, limit: request.concurrencyLimit) } ?? 0
            )
        }
        for place in Set(places).sorted(by: { ($0.queue, $0.key) < ($1.queue, $1.key) }) {
            _ = try lane(queue: place.queue, key: place.key)
        }
    }

    /// Creates a name, unless another transaction has just done so.
    private func create(_ table: String, _ name: String) throws -> Int64 {
        try execute("INSERT INTO \(table)(name) VALUES ($1) ON CONFLICT (name) DO NOTHING", [name])
        guard let id: Int64 = try value("SELECT id FROM \(table) WHERE name = $1", [name]) else {
            throw StoreError.failed("\(table) \(name) was removed")
        }
        return id
    }
}
