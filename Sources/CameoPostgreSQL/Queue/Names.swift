internal import CameoModel
internal import CameoQueue
internal import CameoStore

extension PostgreSQLTransaction {
    package func holdNames() throws {
        guard !unwritten.holdsNames else { return }
        try execute("LOCK TABLE maintenance IN ROW SHARE MODE")
        unwritten.holdsNames = true
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
}
