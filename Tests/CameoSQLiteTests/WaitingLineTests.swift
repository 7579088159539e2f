import CLinux
import CameoModel
import CameoQueue
import CameoStore
import CameoSystem
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

/// The order in which many processes get the write lock.
@Suite(.timeLimit(.minutes(10)))
struct WaitingLineTests {
    /// The line as another process sees it.
    private func line(of store: SQLiteStore) throws -> WaitingLine { try WaitingLine(store.directory.waitingLine) }

    /// Returns when a process has waited long enough to be beyond this place.
    private func isOccupied(beyond place: Int64, in line: WaitingLine) async throws {
        try await eventually("a process is beyond place \(place)") {
            line.isOccupied(beyond: place, at: cameo_monotonic_ms())
        }
    }

    /// Takes a place permanently, like a frozen process.
    private func freeze(at place: Int64, of store: SQLiteStore, since time: Int64) throws -> OpenFile {
        let file = OpenFile(adopting: open(store.directory.waitingLine, O_RDWR | O_CLOEXEC))
        try #require(cameo_ofd_share_byte(file.descriptor, WaitingLine.byte(of: place, at: time)) == 0)
        return file
    }

    @Test(arguments: 1...3)
    func longerWaitsGoFirst(round: Int) async throws {
        let fixture = try StoreFixture()
        let line = try line(of: fixture.store)
        let holder = try fixture.stranger()
        let (first, later) = (fixture.store, try (0..<8).map { _ in try fixture.anotherStore() })
        try await first.commit { db in try db.execute("CREATE TABLE arrival(who INTEGER)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            try holder.run("BEGIN IMMEDIATE")
            group.addTask { try await Self.arrive(0, in: first) }
            // It has waited for a second.
            try await isOccupied(beyond: 2, in: line)
            for (index, store) in later.enumerated() {
                group.addTask { try await Self.arrive(index + 1, in: store) }
            }
            // Gives them a moment to find the lock taken. Even one that arrives later is later than the first.
            try await Task.sleep(for: .milliseconds(50))
            try holder.run("COMMIT")
            try await group.waitForAll()
        }
        #expect(
            try await first.read { db in try db.column("SELECT who FROM arrival") as [Int] }.sorted()
                == Array(0...8)
        )
        #expect(
            try await first.read { db in try db.value("SELECT who FROM arrival ORDER BY rowid") as Int? }
                == 0
        )
    }

    /// However long it takes: on a busy machine the test itself may come to its next step later than a store's patience
    /// lasts, and then the wait begins again.
    private static func arrive(_ who: Int, in store: SQLiteStore) async throws {
        while true {
            try Task.checkCancellation()
            do throws(StoreError) {
                return try await store.commit { db in
                    try db.execute("INSERT INTO arrival(who) VALUES (?)", [who])
                }
            } catch {
                guard case .busy = error else { throw error }
            }
        }
    }

    @Test func aFrozenProcessInTheLineBlocksNobodyForEver() async throws {
        let fixture = try StoreFixture()
        let now = cameo_monotonic_ms()
        let frozen = try (0..<10).map { try freeze(at: 9, of: fixture.store, since: now + 1_000 * $0) }
        #expect(try await fixture.enqueue(1).count == 1)
        withExtendedLifetime(frozen) {}
    }

    @Test func theLineMovesOnWithoutFrozenProcesses() throws {
        let fixture = try StoreFixture()
        let frozen = try freeze(at: 3, of: fixture.store, since: 70_500)
        let line = try line(of: fixture.store)
        #expect(line.isOccupied(beyond: 2, at: 70_500))
        #expect(line.isOccupied(beyond: 2, at: 71_999), "it may not have moved on yet")
        #expect(!line.isOccupied(beyond: 2, at: 72_000))
        #expect(!line.isOccupied(beyond: 3, at: 70_500))
        withExtendedLifetime(frozen) {}
    }

    @Test func noProcessStaysInTheLineWithoutWaiting() async throws {
        let fixture = try StoreFixture()
        let line = try line(of: fixture.store)
        let holder = try fixture.stranger()
        try holder.run("BEGIN IMMEDIATE")
        async let receipts = fixture.enqueue(1)
        try await isOccupied(beyond: 0, in: line)
        try holder.run("ROLLBACK")
        #expect(try await receipts.count == 1)
        #expect(!line.isOccupied(beyond: 0, at: cameo_monotonic_ms()))
    }
}
