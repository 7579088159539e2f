import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

extension StoreFixture {
    /// The same store, but another process runs a statement, with foreign keys as Cameo has them, before a given transaction of
    /// it, where 1 is the first: each reads the clock before it begins.
    func store(interruptedBy statement: String, before transaction: Int) throws -> SQLiteStore {
        let (clock, database) = (clock.storeClock, "\(path)/cameo.sqlite")
        let transactions = Mutex(0)
        let interrupting = StoreClock(
            now: {
                let isIt = transactions.withLock { count in
                    count += 1
                    return count == transaction
                }
                if isIt {
                    #expect(throws: Never.self) {
                        try SQLiteClient(database).run("PRAGMA foreign_keys = ON; \(statement)")
                    }
                }
                return clock.now()
            },
            uptime: clock.uptime
        )
        return try SQLiteStore(at: path, clock: interrupting)
    }
}
