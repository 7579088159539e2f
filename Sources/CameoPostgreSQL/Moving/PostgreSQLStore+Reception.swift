internal import CameoModel
package import CameoStore
package import Foundation

/// The place a store moves to.
extension PostgreSQLStore {
    package func reception(of move: String?) async throws(StoreError) -> StoreMove? {
        let url = url
        return try await read { db in try db.reception(of: move, url) }
    }

    package func beginReception(of move: String, from place: String) async throws(StoreError) -> StoreMove {
        let url = url
        return try await moving { db in
            try Schema.awaitOthers(db)
            if let known = try db.reception(of: move, url) { return known }
            let here = StoreMove(direction: .here, id: move, place: place, isEnded: false)
            try Schema.close(for: here, db)
            return here
        }
    }

    package func receive(_ bytes: Data, of blob: StoreRecord) async throws(StoreError) -> StoreRecord {
        var blob = blob
        if let storage, bytes.count > Self.inlineLimit, try await ownsBytes() {
            try await storage.put(bytes, as: try blob.digest, mediaType: blob.mediaType, existing: .kept)
        } else {
            blob.bytes = bytes
        }
        return blob
    }

    package func receive(_ records: [StoreRecord], _ position: StoreMove.Position) async throws(StoreError) {
        try await moving { db in
            if !records.isEmpty { try db.insert(records, of: position.kind) }
            let count = try db.execute(
                "UPDATE move SET kind = $1, cursor = $2 WHERE direction = 'here' AND ended_at IS NULL",
                [position.kind.rawValue, position.cursor?.text]
            )
            guard count == 1 else { throw StoreError.failed("no store is moving here") }
        }
    }

    package func completeReception() async throws(StoreError) {
        try await moving { db in
            try db.foldCounts()
            try db.execute(Reception.statements)
        }
        // Until autovacuum looks at them, the planner would take the tables for empty.
        _ = try await moving { db in try db.execute(Reception.analysis) }
    }

    package func endReception() async throws(StoreError) {
        try await moving { db in
            try Schema.awaitOthers(db)
            try StoreMove.end(.here, db)
            try Schema.reopen(db)
        }
    }
}

extension Database {
    fileprivate func reception(of move: String?, _ url: DatabaseURL) throws -> StoreMove? {
        if let away = try StoreMove.find(.away, self) { throw away.error(at: url.location) }
        if let here = try StoreMove.find(.here, self) {
            guard here.id != move else { return here }
            if !here.isEnded { throw here.error(at: url.location) }
        }
        let full = RecordKind.ofANewStore.map { "EXISTS (SELECT 1 FROM \($0.rawValue))" }.joined(separator: " OR ")
        guard try value("SELECT \(full) OR EXISTS (SELECT 1 FROM arrival)") == false else {
            let reason = "it has jobs or pictures; a store moves to a new place"
            throw StoreError.cannotOpen(path: url.location, reason: reason)
        }
        return nil
    }

    fileprivate func insert(_ records: [StoreRecord], of kind: RecordKind) throws {
        switch kind {
        case .number: try execute(try records.map(RecordKind.setting))
        case .upload:
            try execute("ALTER TABLE upload DISABLE TRIGGER upload_enqueues")
            try execute(try records.map { try kind.insertion(of: $0) })
            try execute("ALTER TABLE upload ENABLE TRIGGER upload_enqueues")
        case .outcome, .attempt:
            let column = kind == .outcome ? "finalized_at" : "finished_at"
            let place = kind.fields.firstIndex { $0.name == column }
            let times = records.compactMap { record -> Int64? in
                guard let place, case .integer(let time) = record.values[place] else { return nil }
                return time
            }
            try Partitions.make(for: times, of: kind.table, self)
            try execute([try kind.insertion(of: records)])
        case _ where kind.isInsertedOneByOne: try execute(try records.map { try kind.insertion(of: $0) })
        default: try execute([try kind.insertion(of: records)])
        }
    }
}
