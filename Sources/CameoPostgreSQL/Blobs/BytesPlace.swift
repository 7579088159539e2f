internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import CameoSystem
internal import Foundation
internal import Synchronization

/// The place outside of the database where a store keeps the bytes of large blobs. The database remembers it, so that
/// only the first program has to name it and all programs use the same.
package struct BytesPlace {
    fileprivate let chosen: String?
    fileprivate let open: (String) throws(StoreError) -> any ByteStorage

    /// `open` opens the place of a name; nil is the one that the database remembers.
    package init(chosen: String?, open: @escaping (String) throws(StoreError) -> any ByteStorage) {
        self.chosen = chosen
        self.open = open
    }

    /// Opens the place, and lets the database remember a chosen one unless the store is only read.
    ///
    /// - Returns: nil if none was chosen and none is remembered: then all bytes are in their rows; or if none was chosen and
    ///   the role may not read bytes.
    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if the database remembers another, which is not the same place under
    ///   another name, or if the chosen place, which it would remember, cannot be written, read or emptied; ``DatabaseError``
    func storage(
        _ connection: Connection,
        _ url: DatabaseURL,
        _ access: PostgreSQLStore.Access,
        _ rights: Rights
    ) throws -> (any ByteStorage)? {
        let look = "SELECT bytes_place FROM \(url.quoted).schema_version"
        guard let chosen else {
            guard rights.readsBytes else { return nil }
            let remembered: String? = try connection.run(look).rows.first?[0]
            return try remembered.map { name in try open(name) }
        }
        let storage = try open(chosen)
        func ownMark() throws -> String? { try connection.run(PostgreSQLStore.mark(url)).rows.first?[0] }
        var remembered: String? = try connection.run(look).rows.first?[0]
        // Only the first program needs the right to change it.
        if remembered == nil, access != .readOnly {
            try Self.probe(storage, of: url)
            let choice = """
                UPDATE \(url.quoted).schema_version SET bytes_place = coalesce(bytes_place, $1) RETURNING bytes_place
                """
            remembered = try connection.run(choice, [storage.location]).rows.first?[0]
            // By the mark it is found under another name, also before anything is stored there.
            if remembered == storage.location, let own = try ownMark() {
                try blocking { try await storage.setOwner(own, existing: .kept) }
            }
        }
        guard let remembered, remembered != storage.location else { return storage }
        // A place that has this store's mark is the same under another name: a server's, a region's, a moved folder's.
        if let mark = try ownMark(), (try? blocking { try await storage.owner() }) == mark {
            if access != .readOnly, rights.owns {
                try connection.run("UPDATE \(url.quoted).schema_version SET bytes_place = $1", [storage.location])
            }
            return storage
        }
        storage.close()
        throw StoreError.cannotOpen(
            path: url.location,
            reason: "it keeps its bytes in \(remembered) and not in \(storage.location) "
                + "(Bytes in a bucket, Another place)"
        )
    }

    /// Puts, reads and removes bytes. Blocks.
    fileprivate static func probe(_ storage: any ByteStorage, of url: DatabaseURL) throws {
        let bytes = Data(UUID().uuidString.utf8)
        let digest = BlobDigest(of: bytes)
        do {
            try blocking {
                _ = try await storage.put(bytes, as: digest, mediaType: nil, existing: .replaced)
                _ = try await storage.data(of: digest, size: bytes.count)
                try await storage.remove(digest)
            }
        } catch {
            storage.close()
            let reason = "the place for its bytes cannot be used, and is not remembered: \(error)"
            throw StoreError.cannotOpen(path: url.location, reason: reason)
        }
    }
}

extension PostgreSQLStore {
    /// Makes a store, which nobody uses, keep large bytes in another place from now on. Its identity changes with it, by which
    /// programs that have it open know that they must not go on. Blocks.
    ///
    /// - Returns: the place that it remembered; nil if it remembered none.
    /// - Throws: ``StoreError/refused(reason:)`` if it needs what is there, or workers live; and as when a store is opened.
    package static func setBytes(_ place: BytesPlace, of url: DatabaseURL) throws(StoreError) -> String? {
        do {
            let connection = try opening(url) { connection in
                guard try Schema.version(connection, url) != nil else { throw StoreError.missing(path: url.location) }
                try Schema.setUp(connection, url)
                return connection
            }
            guard let chosen = place.chosen else { return nil }
            let storage = try place.open(chosen)
            defer { storage.close() }
            try BytesPlace.probe(storage, of: url)
            try connection.run("SELECT set_config('search_path', '\(url.quoted), pg_temp', false)")
            let needed = "(SELECT count(*) FROM blob WHERE data IS NULL AND NOT (\(isUnreferenced)))"
            // Also those whose jobs nobody has taken back.
            let using = """
                (SELECT count(*) FROM (SELECT id FROM worker WHERE lease_until > now_ms() UNION
                  SELECT worker FROM task WHERE \(TaskRow.isRunning)) AS workers)
                """
            let look = "SELECT bytes_place, \(needed) AS blobs, \(using) AS workers FROM schema_version"
            guard let row = try connection.run(look).rows.first else { throw StoreError.notAStore(path: url.location) }
            let (before, blobs, workers): (String?, Int, Int) = try (row["bytes_place"], row["blobs"], row["workers"])
            guard before != storage.location else { return before }
            let changed = try connection.run(
                """
                UPDATE schema_version SET bytes_place = $1, identity = gen_random_uuid()::text
                WHERE \(needed) = 0 AND \(using) = 0 RETURNING identity
                """,
                [storage.location]
            )
            guard !changed.rows.isEmpty else {
                let place = before ?? "another place"
                throw StoreError.refused(
                    reason: blobs > 0
                        ? "\(blobs) blobs are in \(place): export the store, and import it into a new one"
                        : "\(max(1, workers)) workers may be using \(place): stop them first"
                )
            }
            if let mark: String = try connection.run(Self.mark(url)).rows.first?[0] {
                try blocking { try await storage.setOwner(mark, existing: .kept) }
            }
            return before
        } catch {
            throw StoreError(error, location: url.location)
        }
    }

    // DESIGN. A copy of a database remembers where the original keeps its large bytes, and must not remove what that one needs.
    // So the place has the mark of one store: the identity of its tables, and which database of which server they are in, which
    // a restored dump does not share but a promoted standby does. A store whose mark is another reads there, keeps new bytes in
    // its own rows, and removes nothing. The first that writes or removes where there is no mark, or lets its database remember
    // the place, leaves its own.

    static func mark(_ url: DatabaseURL) -> String {
        """
        SELECT 'store ' || identity || ', database ' || system_identifier || '/'
          || (SELECT oid FROM pg_database WHERE datname = current_database())
        FROM \(url.quoted).schema_version CROSS JOIN pg_control_system()
        """
    }

    package func othersBytes() async throws(StoreError) -> OthersBytes? {
        guard let storage else { return nil }
        let mine = try await mark()
        var owner = try await storage.owner()
        if owner == nil, !isReadOnly {
            try await storage.setOwner(mine, existing: .kept)
            // Another store may have been first.
            owner = try await storage.owner()
        }
        let others = owner.flatMap { $0 == mine ? nil : OthersBytes(location: storage.location, owner: $0) }
        ownership.withLock { $0 = (others, .now) }
        return others
    }

    package func adoptBytes() async throws(StoreError) -> OthersBytes? {
        guard let storage else { throw .refused(reason: "all its bytes are in its own rows") }
        guard !isReadOnly else { throw .readOnly(path: location) }
        guard let others = try await othersBytes() else { return nil }
        try await storage.setOwner(try await mark(), existing: .replaced)
        _ = try await othersBytes()
        return others
    }

    package func backUp(
        to path: String,
        in turn: MaintenanceTurn,
        report: @escaping @Sendable (ByteProgress) -> Void
    ) async throws(StoreError) -> BackupReport {
        throw .needsFolder(name: location, instead: "use the tools of its engine")
    }

    /// Whether new bytes go into the storage: not if they would be another store's. An answer is good for a minute.
    func ownsBytes() async throws(StoreError) -> Bool {
        if let known = ownership.withLock({ $0 }), known.seen.duration(to: .now) < .seconds(60) {
            return known.others == nil
        }
        return try await othersBytes() == nil
    }

    private func mark() async throws(StoreError) -> String {
        let look = Self.mark(url)
        let mark: String? = try await read { db in try db.value(look) }
        guard let mark else { throw .notAStore(path: location) }
        return mark
    }
}

/// Runs a body and blocks until it has ended. Not for threads of the cooperative pool.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Value, any Error>>(.failure(StoreError.failed("it has not ended")))
    Task(executorPreference: OwnThread()) {
        do {
            let value = try await body()
            result.withLock { $0 = .success(value) }
        } catch {
            result.withLock { $0 = .failure(error) }
        }
        done.signal()
    }
    done.wait()
    return try result.withLock { $0 }.get()
}
