internal import CameoModel
package import CameoStore
package import Foundation
internal import GRDB

/// The place a store moves to.
extension SQLiteStore {
    package func reception(of move: String?) async throws(StoreError) -> StoreMove? {
        let location = location
        return try await read { db in try Self.reception(of: move, at: location, db) }
    }

    package func beginReception(of move: String, from place: String) async throws(StoreError) -> StoreMove {
        let (now, location) = (nowMilliseconds, location)
        return try await commit(.moving) { db in
            if let known = try Self.reception(of: move, at: location, db) { return known }
            let here = StoreMove(direction: .here, id: move, place: place, isEnded: false)
            try Schema.close(for: here, now: now, db)
            return here
        }
    }

    private static func reception(of move: String?, at location: String, _ db: Database) throws -> StoreMove? {
        if let away = try StoreMove.find(.away, db) { throw away.error(at: location) }
        if let here = try StoreMove.find(.here, db) {
            guard here.id != move else { return here }
            if !here.isEnded { throw here.error(at: location) }
        }
        let isEmpty = try RecordKind.ofANewStore.allSatisfy { kind in
            try Bool.fetchOne(db, sql: "SELECT NOT EXISTS (SELECT 1 FROM \(kind.rawValue))") ?? false
        }
        guard isEmpty else {
            throw StoreError.cannotOpen(path: location, reason: "it has jobs or pictures; a store moves to a new place")
        }
        return nil
    }

    package func receive(_ bytes: Data, of blob: StoreRecord) async throws(StoreError) -> StoreRecord {
        let prepared = try await files.prepare(bytes, digest: try blob.digest, mediaType: blob.mediaType)
        var blob = blob
        blob.bytes = prepared.data
        return blob
    }

    package func receive(_ records: [StoreRecord], _ position: StoreMove.Position) async throws(StoreError) {
        try await commit(.moving) { db in
            if [.job, .upload].contains(position.kind), !records.isEmpty {
                try Schema.openingDoor(db) { try Self.insert(records, of: position.kind, db) }
            } else {
                try Self.insert(records, of: position.kind, db)
            }
            let note = try db.cachedStatement(
                sql: "UPDATE move SET kind = ?, cursor = ? WHERE direction = 'here' AND ended_at IS NULL"
            )
            try note.execute(arguments: [position.kind.rawValue, position.cursor?.text])
            guard db.changesCount == 1 else { throw StoreError.failed("no store is moving here") }
        }
    }

    private static func insert(_ records: [StoreRecord], of kind: RecordKind, _ db: Database) throws {
        guard kind != .number else { return try set(records, db) }
        let statement = try db.cachedStatement(sql: kind.insertion)
        for record in records {
            var values = record.values.map(\.stored)
            if kind == .blob { values.append(record.bytes) }
            try statement.execute(arguments: StatementArguments(values))
        }
    }

    /// Sets the highest numbers issued.
    private static func set(_ numbers: [StoreRecord], _ db: Database) throws {
        for record in numbers {
            guard case .text(let name) = record.values[0], case .integer(let value) = record.values[1] else {
                throw StoreError.failed("a number has no name or no value")
            }
            guard name != "source_seen" else {
                try db.execute(sql: "UPDATE sequence SET value = ? WHERE name = 'source_seen'", arguments: [value])
                continue
            }
            try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [name])
            guard value > 0 else { continue }
            try db.execute(sql: "INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", arguments: [name, value])
        }
    }

    package func completeReception() async throws(StoreError) {
        try await commit(.moving) { db in
            try db.execute(
                sql: "UPDATE sequence SET value = (SELECT coalesce(max(id), 0) FROM job) WHERE name = 'accepted'"
            )
            _ = try Counters.rebuild(db)
        }
    }

    package func endReception() async throws(StoreError) {
        let now = nowMilliseconds
        try await commit(.moving) { db in
            try StoreMove.end(.here, now: now, db)
            try Schema.reopen(db)
        }
    }
}
