internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. A copy of a database remembers where the original keeps its large bytes. Were both to maintain them, the copy's
// retention and repair would remove what the original needs. So the place has the mark of one store: the identity of its
// tables, and which database of which server they are in, which a restored dump does not share but a promoted standby does.
// A store whose mark is another reads there, keeps new bytes in its own rows, and removes nothing. The first that writes or
// removes where there is no mark leaves its own.

/// Whose the bytes in a storage are, as a store saw last.
struct BytesOwnership: Sendable {
    /// How long an answer is good enough for a put.
    static let patience = Duration.seconds(60)

    var others: OthersBytes?
    var seen: ContinuousClock.Instant
}

extension PostgreSQLStore {
    private static let mark = """
        SELECT 'store ' || identity || ', database ' || system_identifier || '/'
          || (SELECT oid FROM pg_database WHERE datname = current_database())
        FROM schema_version CROSS JOIN pg_control_system()
        """

    package func othersBytes() async throws(StoreError) -> OthersBytes? {
        guard let storage else { return nil }
        let mine = try await mark()
        var owner = try await storage.owner()
        if owner == nil, writes != nil {
            try await storage.setOwner(mine, existing: .kept)
            // Another store may have been first.
            owner = try await storage.owner()
        }
        let others = owner.flatMap { $0 == mine ? nil : OthersBytes(location: storage.location, owner: $0) }
        ownership.withLock { $0 = BytesOwnership(others: others, seen: .now) }
        return others
    }

    package func adoptBytes() async throws(StoreError) -> OthersBytes? {
        guard let storage else { throw .refused(reason: "all its bytes are in its own rows") }
        guard writes != nil else { throw .readOnly(path: location) }
        guard let others = try await othersBytes() else { return nil }
        try await storage.setOwner(try await mark(), existing: .replaced)
        _ = try await othersBytes()
        return others
    }

    /// Whether new bytes go into the storage: not if they would be another store's.
    func ownsBytes() async throws(StoreError) -> Bool {
        if let known = ownership.withLock({ $0 }), known.seen.duration(to: .now) < BytesOwnership.patience {
            return known.others == nil
        }
        return try await othersBytes() == nil
    }

    private func mark() async throws(StoreError) -> String {
        let mark: String? = try await read { db in try db.value(Self.mark) }
        guard let mark else { throw .notAStore(path: location) }
        return mark
    }
}
