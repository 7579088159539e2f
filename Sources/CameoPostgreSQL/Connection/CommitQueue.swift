internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. Durability costs one sync per commit, so writes that wait at the same time share one (group commit). Whenever
// the connection is free, it takes all waiting operations, runs them in one transaction, and reports their results after
// COMMIT. If an operation fails, its group is rolled back and run again with each operation in its own savepoint; if the
// transaction as a whole fails then, one by one.
//
// Changes of counts, history and the change feed are recorded (`PostgreSQLTransaction.ledger`) and written at the end, in
// the same round trip as COMMIT. Jobs are completed together at the start, in that of BEGIN, where other claims that are
// settled are looked up, and what a claim has to know first. Operations that end together are submitted one after the
// other: where the last group had several, the next waits a moment for its own.
//
// What is done about an error is said by its ``Remedy``: a group that collided with another process's, or one of whose
// statements was cancelled, runs again. If the connection is lost before COMMIT was sent, nothing was committed, and the
// group runs again on another. If it is lost after, the server tells by the transaction's id whether it was committed. It cannot after a crash, nor after a failover
// to a standby that may have lost the tail, because the id may since be another's: then the group runs again. Settlements
// are fenced by their claims, and a repeated request joins the job that waits for the same thumbnails, or has them made
// again.
final class CommitQueue: Sendable {
    /// The maximum number of operations per transaction, which bounds how long its locks are held.
    private static let largestGroup = 256
    /// How long a group is gathered, in microseconds: a fraction of a sync.
    private static let gathering: UInt32 = 200

    private struct Operation: Sendable {
        let phase: WritePhase
        /// What it does with the claim that it settles.
        let use: ClaimUse?
        /// What it has to know first. If it is the first of its group, the answer comes with that of BEGIN.
        let look: Connection.Statement?
        /// The unique keys of the requests that it enters.
        let entering: [String]
        /// Runs the write and returns a closure that reports success to its caller, to be called after the commit.
        let run: @Sendable (PostgreSQLTransaction) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
        let since = ContinuousClock.now
    }

    private struct State {
        var waiting: [Operation] = []
        var isDraining = false
        /// Whether the last group had several operations.
        var gathers = false
        /// Whether a commit has been left to itself.
        var isStuck = false
    }

    private let state = Mutex(State())
    private let connections: ConnectionQueue
    private let tables: StoreTables

    init(_ tables: StoreTables, name: String) {
        (connections, self.tables) = (ConnectionQueue(tables.url, name: name), tables)
    }

    /// Runs `body` in a transaction and returns its value once it is durable. The body may run more than once; only its
    /// last run is committed. The caller's cancellation does not affect it. `use` says what the body does with a claim, for
    /// ``PostgreSQLTransaction/task(of:)`` or ``PostgreSQLTransaction/complete(_:timings:)``. The result of `look` may be there too
    /// (``PostgreSQLTransaction/look``). A body that settles a claim must not read the history or counts: those of the
    /// whole group are written together, before it or after it.
    ///
    /// - Throws: ``StoreError/newerSchema(path:found:supported:)`` for new work on tables of a newer version;
    ///   ``StoreError/readOnly(path:)`` if the store was opened for reading.
    func commit<Value: Sendable>(
        _ phase: WritePhase,
        using use: ClaimUse? = nil,
        after look: Connection.Statement? = nil,
        entering: [String] = [],
        _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        guard !tables.url.acceptsStandby else { throw .readOnly(path: tables.url.location) }
        do {
            return try await withCheckedThrowingContinuation { continuation in
                // Who was told that the outcome is not known hears no more.
                let isAnswered = Atomic(false)
                let answer: @Sendable (Result<Value, any Error>) -> Void = { result in
                    if !isAnswered.exchange(true, ordering: .relaxed) { continuation.resume(with: result) }
                }
                let operation = Operation(
                    phase: phase,
                    use: use,
                    look: look,
                    entering: entering,
                    run: { db in
                        let value = try body(db)
                        return { answer(.success(value)) }
                    },
                    fail: { answer(.failure($0)) }
                )
                let mustDrain = state.withLock { state in
                    state.waiting.append(operation)
                    defer { state.isDraining = true }
                    return !state.isDraining
                }
                if mustDrain { connections.async { self.commitWaiting() } }
            }
        } catch {
            throw tables.failure(error)
        }
    }

    /// Waits for everything that was submitted before, but not for a commit that was left to itself. Blocks.
    func drain() {
        let done = DispatchSemaphore(value: 0)
        connections.async { done.signal() }
        // A commit may be left to itself only now.
        while !state.withLock(\.isStuck), done.wait(timeout: .now() + 0.02) == .timedOut {}
    }

    func finish() async {
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                self.drain()
                done.resume()
            }
        }
    }

    private func commitWaiting() {
        if state.withLock({ $0.gathers }) { usleep(Self.gathering) }
        while true {
            let group = state.withLock { state in
                let group = Self.takeGroup(&state.waiting)
                if group.isEmpty { state.isDraining = false } else { state.gathers = group.count > 1 }
                return group
            }
            if group.isEmpty { return }
            commit(group)
        }
    }

    /// Takes what is committed next, in an order that all transactions have, so that they do not wait for each other in a
    /// circle: settlements, what they store being written together; other operations; then requests by their unique keys, after
    /// the jobs that they may join were locked. An operation with several requests does the same by itself, and no other of its
    /// group enters any.
    private static func takeGroup(_ waiting: inout [Operation]) -> [Operation] {
        let group = Array(waiting.prefix(largestGroup))
        let (others, entering) = (group.filter(\.entering.isEmpty), group.filter { !$0.entering.isEmpty })
        let isAlone = entering.first.map { $0.entering.count > 1 } ?? false
        let now = isAlone ? Array(entering.prefix(1)) : entering.filter { $0.entering.count == 1 }
        let later = isAlone ? Array(entering.dropFirst()) : entering.filter { $0.entering.count > 1 }
        waiting.replaceSubrange(..<group.count, with: later)
        return others.filter { $0.use != nil } + others.filter { $0.use == nil }
            + now.sorted { $0.entering[0] < $1.entering[0] }
    }

    private func commit(_ group: [Operation]) {
        do {
            do {
                try run(group, inSavepoints: false)
            } catch  where group.count > 1 && !Self.isLoss(error) {
                try run(group, inSavepoints: true)
            }
        } catch {
            if group.count == 1 || Self.isLoss(error) {
                for operation in group { operation.fail(error) }
                return
            }
            for operation in group {
                do { try run([operation], inSavepoints: false) } catch { operation.fail(error) }
            }
        }
    }

    /// Whether running the operations again is impossible or could do them twice.
    private static func isLoss(_ error: any Error) -> Bool {
        if case StoreError.unreachable = error { return true }
        return error is UnknownOutcome || (error as? DatabaseError)?.isConnectionLost ?? false
    }

    /// Commits and reports all results, or throws and reports none.
    private func run(_ group: [Operation], inSavepoints: Bool) throws {
        var (collisions, refusals, watch) = (
            0, 0, CommitWatch { error in for operation in group { operation.fail(error) } }
        )
        defer {
            tables.waits.note(nil, of: self)
            state.withLock { $0.isStuck = false }
        }
        while true {
            let answers = try connections.withConnection { connection in
                do {
                    let lock: LockPatience = refusals < Remedy.yields ? .yielding : .whole
                    return try attempt(
                        group,
                        inSavepoints: inSavepoints,
                        collisions: collisions,
                        lock: lock,
                        connection,
                        watch
                    )
                } catch let error as DatabaseError where error.isCollision {
                    collisions += 1
                    throw error
                } catch let error as DatabaseError where error.isUnavailableLock {
                    refusals += 1
                    if refusals > Remedy.yields, !watch.reason.isEmpty { throw nothingWritten(watch) }
                    throw error
                }
            }
            guard let answers else { continue }
            for answer in answers { answer() }
            return
        }
    }

    /// - Returns: what reports the results; nil if the outcome of the commit was unknown and it turned out to be none.
    private func attempt(
        _ group: [Operation],
        inSavepoints: Bool,
        collisions: Int,
        lock: LockPatience,
        _ connection: Connection,
        _ watch: CommitWatch
    ) throws -> [@Sendable () -> Void]? {
        let (transaction, answers, closing): (Opening.Transaction?, [@Sendable () -> Void], [Connection.Statement])
        (watch.process, watch.isSent) = (connection.process, false)
        connection.awaits = { try self.awaits(watch) }
        defer { connection.awaits = nil }
        do {
            let (db, refusal) = try begin(group, inSavepoints: inSavepoints, lock: lock, connection)
            transaction = db.opening.transaction
            watch.process = transaction?.process ?? watch.process
            answers = try group.map { operation in
                if let refusal, operation.phase != .begun { return { operation.fail(refusal) } }
                if operation.phase == .new {
                    (db.unwritten.concernsWaiters, db.unwritten.wakesWorkers) = (true, true)
                }
                return try inSavepoints ? runInSavepoint(operation, db) : operation.run(db)
            }
            if collisions > 0 { db.ledger.counters.add(collisions, to: .collisions, "") }
            closing = db.takeUnwritten() + db.closing()
        } catch {
            if Self.isLoss(error) { connections.disconnect() } else { connections.rollBack(connection) }
            throw error
        }
        watch.isSent = true
        return try isCommitted(transaction, after: closing, connection, watch) ? answers : nil
    }

    /// Begins a transaction, and in the same round trip completes jobs, locks what is claimed, and looks.
    ///
    /// - Returns: the transaction, and why new work is refused; nil if it is not.
    private func begin(
        _ group: [Operation],
        inSavepoints: Bool,
        lock: LockPatience,
        _ connection: Connection
    ) throws -> (PostgreSQLTransaction, refusal: StoreError?) {
        let uses = group.compactMap(\.use)
        // Others must not fail with one that fails, so each completes its job in its own savepoint.
        let completions =
            inSavepoints ? [] : uses.compactMap { use in use.timings.map { (claim: use.claim, timings: $0()) } }
        let completing = PostgreSQLTransaction.completing(completions, now: tables.clock.supplied)
        let locking = PostgreSQLTransaction.locking(uses.filter { inSavepoints || $0.timings == nil }.map(\.claim))
        // One with several requests that is alone does so itself.
        let entering = group.flatMap(\.entering)
        let isAlone = group.count == 1 && entering.count > 1
        let joining = PostgreSQLTransaction.locking(waitingFor: isAlone ? [] : entering)
        // Others of the group look when it is their turn, because those before them may change the answer.
        let looking = group.first?.look.map { [$0] } ?? []
        let statements = completing + locking + joining + looking
        var (db, found, refusal) = try tables.begin(connection, isWriting: true, lock: lock, then: statements)
        if !looking.isEmpty { db.look = found.popLast() }
        found.removeLast(joining.count)
        // What was completed must not be committed if that is refused.
        for tasks in found.prefix(completing.count) { try db.note(completed: tasks) }
        for tasks in found.dropFirst(completing.count) { try db.note(claimed: tasks) }
        return (db, refusal)
    }

    /// Called every second while a transaction has no answer: says why, and tells who has waited for too long.
    ///
    /// - Returns: whether it may be waited for without end.
    /// - Throws: ``StoreError/unreachable(location:reason:)`` if it must not be waited for, since COMMIT was not sent.
    private func awaits(_ watch: CommitWatch) throws -> Bool {
        watch.look(at: tables.url)
        guard !watch.reason.isEmpty else { return watch.mayTakeLong }
        tables.waits.note(watch.reason, of: self)
        if tables.waits.isOver(since: watch.since) {
            guard watch.isSent else { throw nothingWritten(watch) }
            state.withLock { $0.isStuck = true }
            watch.fail(UnknownOutcome(reason: watch.reason))
        }
        let late = state.withLock { state in
            defer { state.waiting.removeAll { tables.waits.isOver(since: $0.since) } }
            return state.waiting.filter { tables.waits.isOver(since: $0.since) }
        }
        for operation in late { operation.fail(nothingWritten(watch)) }
        return watch.mayTakeLong
    }

    private func nothingWritten(_ watch: CommitWatch) -> StoreError {
        .unreachable(location: tables.url.location, reason: "nothing was written, because \(watch.reason)")
    }

    /// Commits, and asks for the outcome if the connection is lost meanwhile.
    private func isCommitted(
        _ transaction: Opening.Transaction?,
        after closing: [Connection.Statement],
        _ connection: Connection,
        _ watch: CommitWatch
    ) throws -> Bool {
        do {
            let end = try connection.run(closing + [.init("COMMIT", prepared: true)]).last
            guard end?.command == "COMMIT" else { throw DatabaseError("the transaction was rolled back") }
            return true
        } catch let error as DatabaseError where error.isConnectionLost {
            connections.disconnect()
            guard let transaction else { throw error }
            do {
                return try wasCommitted(transaction, watch)
            } catch {
                throw UnknownOutcome(reason: "the connection was lost during a commit: \(error)")
            }
        } catch {
            connections.rollBack(connection)
            throw error
        }
    }

    /// Asks whether a transaction was committed whose connection was lost after COMMIT was sent.
    private func wasCommitted(_ transaction: Opening.Transaction, _ watch: CommitWatch) throws -> Bool {
        while true {
            let status: String? = try connections.withConnection { connection in
                let rows = try connection.run(
                    """
                    SELECT CASE WHEN \(Opening.Transaction.eraNow) = $2
                      THEN pg_xact_status($1::text::xid8) ELSE 'another era' END
                    """,
                    [transaction.id, transaction.era]
                ).rows
                return try rows.first?[0]
            }
            switch status {
            case "committed": return true
            case "aborted", "another era": return false
            // The server has not noticed the loss, or is still at the commit.
            case "in progress":
                _ = try awaits(watch)
                usleep(10_000)
            default:
                throw DatabaseError("the server no longer knows whether transaction \(transaction.id) was committed")
            }
        }
    }

    /// Runs an operation in a savepoint; its own error becomes its result.
    ///
    /// - Throws: only an error that concerns the whole transaction.
    private func runInSavepoint(_ operation: Operation, _ db: PostgreSQLTransaction) throws -> @Sendable () -> Void {
        do {
            // What others have recorded must not fail with this operation.
            try db.flush(lanes: false)
            return try db.inSavepoint {
                let answer = try operation.run(db)
                try db.flush(lanes: false)
                return answer
            }
        } catch {
            let error = error
            if let error = error as? DatabaseError, error.isConnectionLost || error.remedy != .nothing { throw error }
            return { operation.fail(error) }
        }
    }
}

/// The connection was lost during a commit, or its answer has not come, and nobody could tell in time whether it was done.
struct UnknownOutcome: Error {
    /// Why not.
    let reason: String
}

extension PostgreSQLStore {
    /// Begins a transaction on a connection of its own, which holds its locks while something outside of the database happens:
    /// if `look` finds something, runs `work` and then `end` before the commit. The server ends a transaction whose work takes
    /// longer than half a minute; then this fails.
    ///
    /// - Returns: what `end` returned; nil if nothing was found.
    func hold<Found: Sendable, Work: Sendable, Value: Sendable>(
        _ look: @escaping @Sendable (PostgreSQLTransaction) throws -> Found?,
        while work: () async throws -> Work,
        finally end: @escaping @Sendable (PostgreSQLTransaction, Found, Work) throws -> Value
    ) async throws(StoreError) -> Value? {
        let (connections, tables) = (ConnectionQueue(url, name: "holder"), tables)
        do {
            let held: (opening: Opening, found: Found)? = try await connections.perform {
                try connections.withConnection { connection in
                    let (db, _, refusal) = try tables.begin(connection, isWriting: true)
                    if let refusal { throw refusal }
                    if let found = try look(db) {
                        try db.execute("SELECT set_config('idle_in_transaction_session_timeout', '30000', true)")
                        return (db.opening, found)
                    }
                    try connection.run("ROLLBACK")
                    return nil
                }
            }
            guard let held else { return nil }
            let result = try await work()
            return try await connections.perform {
                let connection = try connections.connect()
                // Fails on another connection than the one that began, which has no transaction.
                let db = PostgreSQLTransaction(connection, held.opening)
                guard let id = held.opening.transaction?.id,
                    try db.value("SELECT pg_current_xact_id_if_assigned()::text = $1", [id]) == true
                else { throw DatabaseError("the transaction was ended by the server") }
                let value = try db.repeating { try end(db, held.found, result) }
                try connection.run("COMMIT")
                return value
            }
        } catch {
            // The end of the connection is a rollback.
            try? await connections.perform { connections.disconnect() }
            throw tables.failure(error)
        }
    }
}
