package import CameoStore
internal import Foundation
internal import GRDB
internal import Synchronization

// How others notice commits.
extension SQLiteStore {
    package func wakeUps(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let watch = LogWatch(
            of: directory,
            pause: pause,
            version: { try? self.watching().unsafeRead(Self.dataVersion) },
            notify: { continuation.yield() }
        )
        continuation.onTermination = { _ in watch.stop() }
        watch.start()
        continuation.yield()
        return stream
    }

    package func version() async throws(StoreError) -> Int {
        let result: Result<Int, any Error> = await withCheckedContinuation { continuation in
            do {
                // Outside a transaction: inside one the value would never change.
                try watching().asyncUnsafeRead { database in
                    continuation.resume(returning: Result { try Self.dataVersion(database.get()) })
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try value(of: result)
    }

    private func watching() throws -> DatabaseQueue {
        try watcher.withLock { watcher in
            if let watcher { return watcher }
            let opened = try Connection.open(directory.database, readAccess)
            watcher = opened
            return opened
        }
    }

    private static func dataVersion(_ db: Database) throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "PRAGMA data_version")) ?? 0
    }
}
