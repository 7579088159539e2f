internal import CLinux
internal import CSQLite
internal import CameoQueue
internal import CameoStore
internal import CameoSystem
internal import Foundation
internal import Synchronization

// DESIGN. Durability costs one sync per commit, so writes that wait at the same time share one (group commit). Whenever
// the connection's thread is free, it takes all waiting operations, runs them in one BEGIN IMMEDIATE, and reports their
// results after COMMIT. While it syncs, the next group accumulates. If an operation fails, its group is rolled back and
// run again with each operation in its own savepoint, which would cost every operation two statements. Operations record
// their changes of counters in one ledger, which is written before the commit, and before an operation that may read the
// counters.
//
// A savepoint does not protect its neighbours from an error that rolls back the whole transaction (disk full), so such a
// group is run again one by one. Writes run on the connection's thread, never in a caller's task, so that a caller who is
// cancelled takes nothing back from its neighbours.
//
// SQLite gives the lock to whoever polls first, and a program in another language polls rarely: its busy handler sleeps
// for up to 100 ms. So while others have written recently, the lock stays free after each group for half as long as the
// group held it. Operations accumulate meanwhile, so that little throughput is lost.
//
// Each transaction checks the schema version under the write lock, because a newer program may have migrated the tables
// since this one opened them. New work is then refused by name; work in progress may still finish. A store that moves or
// has moved is closed in the same way, also to what is in progress.
final class CommitQueue: Sendable {
    /// The maximum number of operations per transaction, which bounds how long others wait for the write lock.
    private static let largestGroup = 256
    /// The time after a commit during which more operations are likely.
    private static let busyMilliseconds: Int64 = 25
    /// How long another program that has written is expected to come back, in milliseconds.
    private static let memoryOfOthers: Int64 = 5_000
    /// The longest pause left to others, in milliseconds.
    private static let longestRest: Int64 = 25

    private struct Operation: Sendable {
        let phase: WritePhase
        /// Runs the write and returns a closure that reports success to its caller, to be called after the commit.
        let run: @Sendable (SQLiteTransaction) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: [Operation] = []
        var isDraining = false
        /// The time of the last commit by the monotonic clock, in milliseconds.
        var committedAt: Int64 = 0
        /// The database's version at the last look, and when others were last seen to have written.
        var version: Int?
        var othersSeenAt: Int64?
    }

    private let state = Mutex(State())
    private let database: ConnectionQueue
    private let checkpointer: Checkpointer
    private let directory: StoreDirectory
    private let clock: StoreClock

    init(
        database: ConnectionQueue,
        checkpointer: Checkpointer,
        directory: StoreDirectory,
        clock: StoreClock
    ) {
        (self.database, self.clock, self.directory, self.checkpointer) = (database, clock, directory, checkpointer)
    }

    /// Runs `body` in a transaction and returns once it is durable. The body may run more than once; only its last
    /// run is committed. The caller's cancellation does not affect it.
    ///
    /// - Throws: ``StoreError/newerSchema(path:found:supported:)`` for new work on tables of a newer version.
    func commit<Value: Sendable>(
        _ phase: WritePhase,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let operation = Operation(
                phase: phase,
                run: { db in
                    let value = try body(db)
                    return { continuation.resume(returning: value) }
                },
                fail: { continuation.resume(throwing: $0) }
            )
            let mustDrain = state.withLock { state in
                state.waiting.append(operation)
                defer { state.isDraining = true }
                return !state.isDraining
            }
            if mustDrain { database.async { db in self.drain(db) } }
        }
    }

    /// Commits one group per call, so that other users of the connection get their turn between groups.
    private func drain(_ db: SQLiteConnection) {
        gather()
        let group = state.withLock { state in
            let group = Array(state.waiting.prefix(Self.largestGroup))
            state.waiting.removeFirst(group.count)
            if group.isEmpty { state.isDraining = false }
            return group
        }
        if group.isEmpty { return }
        lookForOthers(db)
        let started = cameo_monotonic_ms()
        commit(group, in: db)
        checkpointer.checkpointIfLogIsLong(db)
        state.withLock { $0.committedAt = cameo_monotonic_ms() }
        let rest = rest(after: cameo_monotonic_ms() - started)
        if rest > 0 { poll(nil, 0, CInt(rest)) }
        database.async { db in self.drain(db) }
    }

    /// Waits a millisecond if more operations are likely. A busy worker's settlements arrive in bursts; committing the
    /// first alone would make the others wait for its sync. A claim is not delayed.
    private func gather() {
        let moreAreLikely = state.withLock { state in
            (1..<Self.largestGroup / 8).contains(state.waiting.count)
                && state.waiting.allSatisfy { $0.phase == .begun }
                && cameo_monotonic_ms() - state.committedAt < Self.busyMilliseconds
        }
        if moreAreLikely { poll(nil, 0, 1) }
    }

    /// Checks whether another connection has committed.
    private func lookForOthers(_ db: SQLiteConnection) {
        guard let version = try? db.dataVersion else { return }
        state.withLock { state in
            if let before = state.version, before != version { state.othersSeenAt = cameo_monotonic_ms() }
            state.version = version
        }
    }

    /// How long to leave the lock free after holding it for `held` milliseconds.
    private func rest(after held: Int64) -> Int64 {
        let seenAt = state.withLock { $0.othersSeenAt }
        let isShared = seenAt.map { cameo_monotonic_ms() - $0 < Self.memoryOfOthers } ?? false
        return isShared ? min(max(held / 2, 1), Self.longestRest) : 0
    }

    private func commit(_ group: [Operation], in db: SQLiteConnection) {
        do {
            do {
                try runInOneTransaction(group, db)
            } catch  where group.count > 1 && !Self.concernsTransaction(error) {
                try runInOneTransaction(group, inSavepoints: true, db)
            }
        } catch {
            let code = (error as? SQLiteError)?.code
            if code == SQLITE_BUSY || (group.count == 1 && code != SQLITE_FULL) {
                for operation in group { operation.fail(error) }
                return
            }
            if code == SQLITE_FULL { checkpointer.checkpoint(db) }  // the log may occupy the missing space
            for operation in group {
                do { try runInOneTransaction([operation], db) } catch { operation.fail(error) }
            }
        }
    }

    /// Commits and reports all results, or throws and reports none.
    private func runInOneTransaction(_ group: [Operation], inSavepoints: Bool = false, _ db: SQLiteConnection) throws {
        let transaction = SQLiteTransaction(db, directory, clock: clock)
        let answers = try db.inTransaction(.write) {
            let refusal = try Schema.refusal(by: db, at: directory.path)
            let answers = try group.map { operation -> @Sendable () -> Void in
                if let refusal, operation.phase == .new { return { operation.fail(refusal) } }
                return try inSavepoints ? runInSavepoint(operation, transaction) : operation.run(transaction)
            }
            try transaction.flush()
            return answers
        }
        for answer in answers { answer() }
    }

    /// Runs an operation in a savepoint; its own error becomes its result.
    ///
    /// - Throws: only an error that concerns the whole transaction.
    private func runInSavepoint(
        _ operation: Operation,
        _ db: SQLiteTransaction
    ) throws -> @Sendable () -> Void {
        do {
            return try db.inSavepoint { try operation.run(db) }
        } catch {
            guard db.connection.isInsideTransaction, !Self.concernsTransaction(error) else { throw error }
            return { operation.fail(error) }
        }
    }

    /// Whether an error concerns the transaction rather than the operation that raised it.
    private static func concernsTransaction(_ error: any Error) -> Bool {
        [SQLITE_BUSY, SQLITE_FULL].contains((error as? SQLiteError)?.code)
    }
}

/// How long a connection waits for another process's lock. Used only by the connection's thread.
final class Patience: Sendable {
    /// The usual limit in milliseconds.
    static let usual = testable(30_000, "CAMEO_TEST_PATIENCE_MS")

    /// What a try counts at most, in milliseconds. A try takes less, unless the machine or the process stood still: then
    /// the process that has the lock could not release it either.
    static let longestTry: Int64 = 1_000

    private let limit = Atomic<Int64>(Patience.usual)
    /// How long this wait has lasted, and when that was counted last.
    private let waited = Atomic<Int64>(0)
    private let counted = Atomic<Int64>(0)
    /// The line in which the writing connections of all processes wait.
    private let line: WaitingLine?

    init(line: WaitingLine? = nil) {
        self.line = line
    }

    /// Runs a closure that waits for the write lock.
    func inLine(_ begin: () throws -> Void) rethrows {
        if let line { try line.acquire(begin) } else { try begin() }
    }

    /// SQLite's busy handler: waits briefly, or returns false if the limit is reached. `tries` counts the tries of this
    /// wait.
    func lastsAnotherTry(after tries: Int) -> Bool {
        guard isWithinLimit(tries: tries, at: cameo_monotonic_ms()) else { return false }
        poll(nil, 0, 1)
        line?.yieldToLongerWaits()
        return true
    }

    /// Whether the wait may go on after this many tries. `now` is in milliseconds of the monotonic clock.
    func isWithinLimit(tries: Int, at now: Int64) -> Bool {
        let sinceLastTry = now - counted.exchange(now, ordering: .relaxed)
        let total = tries == 0 ? 0 : waited.load(ordering: .relaxed) + min(sinceLastTry, Self.longestTry)
        waited.store(total, ordering: .relaxed)
        return total < limit.load(ordering: .relaxed)
    }

    func set(milliseconds: Int64) { limit.store(milliseconds, ordering: .relaxed) }
}
