import CameoSQLite
import CameoStore
import Foundation
import GRDB
import StoreConformance
import Synchronization
import Testing

extension StoreFixture {
    /// The same store, but another process runs a statement when the clock is first read. An operation that reads and
    /// then changes rows in a transaction reads the clock in between.
    func store(interruptedBy statement: String) throws -> SQLiteStore {
        let (clock, database) = (clock.storeClock, "\(path)/cameo.sqlite")
        let isOver = Mutex(false)
        let interrupting = StoreClock(
            now: {
                let isFirst = isOver.withLock { over in
                    defer { over = true }
                    return !over
                }
                if isFirst {
                    #expect(throws: Never.self) {
                        try DatabaseQueue(path: database).write { db in try db.execute(sql: statement) }
                    }
                }
                return clock.now()
            },
            uptime: clock.uptime
        )
        return try SQLiteStore(at: path, clock: interrupting)
    }
}
