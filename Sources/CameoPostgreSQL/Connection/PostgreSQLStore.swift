internal import CameoModel
package import CameoQueue
package import CameoStore
internal import Foundation
internal import Synchronization

/// The queue, the thumbnails and their blobs in a PostgreSQL database, shared by any number of processes on any number
/// of machines.
package final class PostgreSQLStore: QueueStore {
    package let url: DatabaseURL
    let tables: StoreTables
    let rights: Rights
    package let caution: String?
    let writes: CommitQueue
    /// Claims have a connection of their own: those that wait for the turn of a limit hold up no settlement.
    let claims: CommitQueue
    /// What must not share a transaction with calls that wait for each other's locks has a connection of its own.
    let upkeep: CommitQueue
    let reads: ReaderPool
    let listener: Listener
    /// Where the bytes of large blobs are; nil: in their rows.
    let storage: (any ByteStorage)?
    /// Whose the bytes there are, if not this store's, and when that was seen; nil until it was looked at.
    let ownership = Mutex<(others: OthersBytes?, seen: ContinuousClock.Instant)?>(nil)
    /// The descriptions of this process's workers, by id.
    let registrations = Mutex<[String: WorkerDescription]>([:])
    package let acceptances = Acceptances()
    package let readings = Readings()
    /// Whether a claim need not look before it: one that follows a successful one most likely finds more.
    let lastClaimFoundJobs = Atomic(false)
    /// Where claims look at the lanes.
    let floors = LaneFloors()
    /// What calls have left for after their return.
    let errands = Errands()
    /// Whether this process is numbering changes that nobody has asked for.
    let isNumbering = Atomic(false)

    /// How a store is opened.
    package enum Access: Sendable {
        /// For writing; the tables are created if there are none.
        case creating
        /// For writing.
        case readWrite
        case readOnly
    }

    /// Connects and, unless the access is read-only, creates or migrates the tables. If they are there and current, that
    /// needs no right to change them. Blocks. The bytes of large blobs are in `place`; nil: in their rows, even if the database
    /// remembers a place. The clock counts instead of the server's, in tests.
    ///
    /// - Throws: ``StoreError/unreachable(location:reason:)``, also if the server refuses the connection;
    ///   ``StoreError/missing(path:)``, ``StoreError/notAStore(path:)``, ``StoreError/newerSchema(path:found:supported:)``,
    ///   ``StoreError/olderSchema(path:found:needed:)``, ``StoreError/denied(location:reason:)``
    package init(
        _ url: DatabaseURL,
        _ access: Access = .creating,
        bytes place: BytesPlace? = nil,
        clock: StoreClock? = nil,
        patience: Duration = ConnectionQueue.patience
    ) throws(StoreError) {
        var url = url
        url.acceptsStandby = access == .readOnly
        self.url = url
        let connection: Connection
        do {
            (connection, rights, caution, storage) = try Self.opening(url, patience) { [url] connection in
                if access != .creating {
                    guard let version = try Schema.version(connection, url) else {
                        throw StoreError.missing(path: url.location)
                    }
                    if access == .readOnly, version != Schema.currentVersion {
                        throw StoreError.olderSchema(path: url.location, found: version, needed: Schema.currentVersion)
                    }
                }
                if access != .readOnly { try Schema.setUp(connection, url) }
                let rights = try Rights(connection, url)
                let caution = try Schema.namesake(connection, url)
                return (connection, rights, caution, try place?.storage(connection, url, access, rights))
            }
        } catch {
            throw StoreError(error, location: url.location)
        }
        tables = StoreTables(url, ServerClock(clock), identity: rights.store)
        writes = CommitQueue(tables, name: "writer")
        claims = CommitQueue(tables, name: "claimer")
        upkeep = CommitQueue(tables, name: "upkeep")
        reads = ReaderPool(tables, connection)
        listener = Listener(url)
    }

    /// Connects and looks at what is there, again where the ``Remedy`` of an error says so. But a server or pooler that cannot be
    /// reached is waited for only once a server has said that it is starting or stopping, or has no connection left.
    static func opening<Value>(
        _ url: DatabaseURL,
        _ patience: Duration = ConnectionQueue.patience,
        _ look: (Connection) throws -> Value
    ) throws -> Value {
        var (repetition, hasAnswered) = (Repetition(patience: patience), false)
        while true {
            do {
                return try look(Connection(url))
            } catch let error as DatabaseError {
                hasAnswered = hasAnswered || !["", "08", "28"].contains(error.state.prefix(2))
                guard hasAnswered else { throw error }
                try repetition.wait(after: error)
            }
        }
    }

    package var location: String { url.location }
    package var folder: String? { storage.map(\.location).flatMap { $0.hasPrefix("/") ? $0 : nil } }
    package var lease: Duration { .milliseconds(Lease.betweenMachines) }
    package var clock: StoreClock { tables.clock.storeClock }
    /// Only then a standby will do.
    package var isReadOnly: Bool { url.acceptsStandby }
    package var isInPlace: Bool { tables.isInPlace }
    package var commitWait: String? { tables.waits.reason }
    package func onCommitWait(_ tell: @escaping @Sendable (String) -> Void) { tables.waits.onNews(tell) }
    package func expectEnd(within grace: Duration) { tables.waits.end(within: grace) }

    // MARK: - Reads and writes for extensions

    /// Runs a read in a snapshot (REPEATABLE READ). Like a commit, it is not cancelled with the calling task, so that no
    /// read fails with a store error then. It may run more than once.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await reads.read(body)
    }

    package func commit<Value: Sendable>(
        _ write: Write = .new,
        _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        switch write {
        case .new, .claim, .begun:
            return try await writes.commit(write.phase) { db in
                try db.flush(lanes: false)
                return try body(db)
            }
        case .entering(let new):
            // Without a flush before it: that locks lanes, for which others may wait that have entered a request of the group.
            return try await writes.commit(.new, entering: new.map(\.key.text), body)
        case .holding(let claim): return try await writes.commit(.begun, using: ClaimUse(claim: claim), body)
        case .upkeep(let turn):
            let lease = try MaintenanceLease.of(turn)
            return try await transaction { db in
                try lease.renew(db)
                return try body(db)
            }
        }
    }

    package func accept(through id: Int64) async throws(StoreError) {
        let isArrival = "SELECT EXISTS (SELECT 1 FROM arrival WHERE id <= $1)"
        while try await read({ db in try db.value(isArrival, [id]) ?? false }) { try await acceptAll() }
    }

    /// Commits a write that takes locks of rows which many share, or that may take long, apart from all others.
    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await upkeep.commit(.begun) { db in
            try db.flush()
            return try body(db)
        }
    }

    /// How often streams of wake-ups look at the store's version themselves.
    private static let interval = Duration.milliseconds(250)

    package func wakeUps(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> {
        wakeUps(ofWork: false, pause: pause)
    }

    package func wakeUpsOfWork(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> {
        wakeUps(ofWork: true, pause: pause)
    }

    private func wakeUps(ofWork: Bool, pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (notified, notifier) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (listener, reads, sql) = (listener, reads, versionStatement)
        let waker = listener.add { notifier.yield() }
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    continuation.yield()
                    for await _ in notified {
                        continuation.yield()
                        // Only the stream's end cancels this.
                        try? await Task.sleep(for: pause())
                    }
                }
                group.addTask {
                    var last: Int64?
                    while !Task.isCancelled {
                        // Who listens is told of all work. A server that cannot be reached has nothing new.
                        let version = ofWork && listener.isListening ? nil : try? await reads.value(sql)
                        // The first look counts too: there may have been a commit between the first yield and it.
                        let hasChanged = version != nil && version != last
                        if hasChanged { notifier.yield() }
                        last = version ?? last
                        try? await Task.sleep(for: max(Self.interval, pause()))
                    }
                }
            }
        }
        continuation.onTermination = { _ in
            listener.remove(waker)
            notifier.finish()
            task.cancel()
        }
        return stream
    }

    package func version() async throws(StoreError) -> Int { Int(try await reads.value(versionStatement)) }

    /// The numbered changes and those without a number only grow together; so does every other term. Whoever cannot number
    /// changes sees one once it has its number, which is news then.
    private var versionStatement: String {
        let schema = url.quoted
        let news = canNumberChanges ? "" : " + last"
        return """
            SELECT (SELECT sum(value)::bigint FROM \(schema).sequence)
              + (SELECT last\(news) + coalesce((SELECT sum(cardinality(jobs)) FROM \(schema).new_change WHERE entry > low), 0)
                FROM \(schema).feed)
              + (SELECT coalesce(max(id), 0) FROM \(schema).job)
            """
    }

    package func finish() async {
        await recordReadings()
        await errands.finish()
        await writes.finish()
        await claims.finish()
    }

    package func close() {
        writes.drain()
        claims.drain()
    }
}
