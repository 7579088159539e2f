internal import CLinux
internal import CameoStore
internal import Foundation
internal import GRDB
internal import Synchronization

// DESIGN. Durability costs one sync per commit, so the writes that wait together share one. Each write of the process
// is an operation in a queue; whenever the connection's thread is free it takes all that wait, runs them in one
// BEGIN IMMEDIATE, and answers them after COMMIT. While it syncs, the next group gathers: the busier the store, the larger
// the groups. A group in which an operation fails is rolled back and run again, each in a savepoint of its own: errors are
// rare, and two statements an operation are not cheap. What operations count they put into one ledger, which is posted
// before the commit, and before an operation that may read the counts.
//
// Two traps, both seen. A savepoint does not protect its neighbours from an error that rolls the whole transaction
// back (disk full): such a group is run again, one by one. And GRDB rolls back the write of a cancelled task: so the
// writes run on the connection's thread, never in a caller's task.
//
// Writers that are not Cameo's get their turn. SQLite lets whoever looks first have the lock, and a program in another
// language looks seldom: its busy handler sleeps for up to 100 ms. So while others have written lately, the lock rests after
// each group for half as long as the group held it. What waits gathers meanwhile, so that groups grow and little is lost.
//
// Each transaction looks at the schema's version under the write lock: a newer program may have changed the tables since
// this one opened them. Whatever is new is then refused by name; what was begun before may still be ended.
final class CommitQueue: Sendable {
    /// Operations in one transaction, at most: bounds how long others wait for the write lock.
    private static let largestGroup = 256
    /// After a commit others are likely for as long.
    private static let busyMilliseconds: Int64 = 25

    private struct Operation: Sendable {
        let phase: WritePhase
        /// Runs the write and returns what tells its caller that it succeeded, to be called after the commit.
        let run: @Sendable (Database, inout Ledger) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: [Operation] = []
        var isDraining = false
        /// By the monotonic clock, in milliseconds.
        var committedAt: Int64 = 0
    }

    private let state = Mutex(State())
    private let database: DatabaseQueue
    private let line: WaitingLine
    private let checkpointer: Checkpointer
    private let path: String
    private let others = OtherWriters()

    /// Refusals name `path`, the store's folder.
    init(database: DatabaseQueue, line: WaitingLine, checkpointer: Checkpointer, path: String) {
        self.database = database
        self.line = line
        self.path = path
        self.checkpointer = checkpointer
    }

    /// Runs `body` in a transaction and returns once it is durable. The body may run more than once; only its last
    /// run is committed. The caller's cancellation does not reach it.
    ///
    /// - Throws: ``StoreError/newerSchema(path:found:supported:)`` for what is new to tables of a newer version.
    func commit<Value: Sendable>(
        _ phase: WritePhase,
        _ body: @escaping @Sendable (Database, inout Ledger) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            submit(
                Operation(
                    phase: phase,
                    run: { db, ledger in
                        let value = try body(db, &ledger)
                        return { continuation.resume(returning: value) }
                    },
                    fail: { continuation.resume(throwing: $0) }
                )
            )
        }
    }

    private func submit(_ operation: Operation) {
        let mustDrain = state.withLock { state in
            state.waiting.append(operation)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustDrain {
            database.asyncWriteWithoutTransaction { db in self.drain(db) }
        }
    }

    /// A group a turn: who else waits for the connection comes between two of them, however many write.
    private func drain(_ db: Database) {
        gather()
        let group = state.withLock { state in
            let group = Array(state.waiting.prefix(Self.largestGroup))
            state.waiting.removeFirst(group.count)
            if group.isEmpty { state.isDraining = false }
            return group
        }
        if group.isEmpty { return }
        others.look(db)
        let started = cameo_monotonic_ms()
        commit(group, in: db)
        checkpointer.checkpointIfLogIsLong(db)
        state.withLock { $0.committedAt = cameo_monotonic_ms() }
        let rest = others.rest(after: cameo_monotonic_ms() - started)
        if rest > 0 { poll(nil, 0, CInt(rest)) }
        database.asyncWriteWithoutTransaction { db in self.drain(db) }
    }

    /// Settlements of a busy worker come side by side, and the first is a moment ahead: alone it would have a commit of its
    /// own, and keep the others waiting for its sync. A claim comes alone.
    private func gather() {
        let mayCome = state.withLock { state in
            (1..<Self.largestGroup / 8).contains(state.waiting.count)
                && state.waiting.allSatisfy { $0.phase == .begun }
                && cameo_monotonic_ms() - state.committedAt < Self.busyMilliseconds
        }
        if mayCome { poll(nil, 0, 1) }
    }

    private func commit(_ group: [Operation], in db: Database) {
        do {
            do {
                try runInOneTransaction(group, db)
            } catch  where group.count > 1 && !Self.isOfTransaction(error) {
                try runInOneTransaction(group, inSavepoints: true, db)
            }
        } catch {
            let code = (error as? DatabaseError)?.resultCode
            if let operation = group.first, group.count == 1, code != .SQLITE_FULL {
                operation.fail(error)
                return
            }
            switch code {
            case .SQLITE_BUSY:
                for operation in group { operation.fail(error) }
                return
            case .SQLITE_FULL: checkpointer.checkpoint(db)  // the log may take the room that is missing
            default: break
            }
            for operation in group {
                do { try runInOneTransaction([operation], db) } catch { operation.fail(error) }
            }
        }
    }

    /// Commits and answers all, or throws and has answered none.
    private func runInOneTransaction(_ group: [Operation], inSavepoints: Bool = false, _ db: Database) throws {
        // Compiled once: GRDB's own calls parse them each time.
        try line.stand { try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute() }
        do {
            let refusal = try Schema.refusal(by: db, at: path)
            var ledger = Ledger(now: 0)
            let answers = try group.map { operation -> @Sendable () -> Void in
                if let refusal, operation.phase == .new { return { operation.fail(refusal) } }
                return try inSavepoints ? runInSavepoint(operation, &ledger, db) : operation.run(db, &ledger)
            }
            try ledger.post(db)
            try db.cachedStatement(sql: "COMMIT").execute()
            for answer in answers { answer() }
        } catch {
            Self.rollBack(db)
            throw error
        }
    }

    /// An operation's own error becomes its answer.
    ///
    /// - Throws: only when the transaction as a whole is gone, or had better be.
    private func runInSavepoint(
        _ operation: Operation,
        _ ledger: inout Ledger,
        _ db: Database
    ) throws -> @Sendable () -> Void {
        let before = ledger
        do {
            var answer: @Sendable () -> Void = {}
            try db.inSavepoint {
                answer = try operation.run(db, &ledger)
                return .commit
            }
            return answer
        } catch {
            guard db.isInsideTransaction, !Self.isOfTransaction(error) else { throw error }
            ledger = before
            return { operation.fail(error) }
        }
    }

    /// Whether an error says nothing of the operation in which it came up.
    private static func isOfTransaction(_ error: any Error) -> Bool {
        [.SQLITE_BUSY, .SQLITE_FULL].contains((error as? DatabaseError)?.resultCode)
    }

    /// After some errors SQLite has already rolled back; a failing rollback would mean just that.
    private static func rollBack(_ db: Database) {
        if db.isInsideTransaction { try? db.rollback() }
    }
}
