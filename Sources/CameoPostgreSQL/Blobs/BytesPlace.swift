internal import CameoQueue
package import CameoStore

/// The place outside of the database where a store keeps the bytes of large blobs. The database remembers it, so that
/// only the first program has to name it and all programs use the same.
package struct BytesPlace {
    private let chosen: String?
    private let open: (String) throws(StoreError) -> any ByteStorage

    /// - Parameters:
    ///   - chosen: the name of a place; nil: the one that the database remembers.
    ///   - open: opens the place of a name.
    package init(chosen: String?, open: @escaping (String) throws(StoreError) -> any ByteStorage) {
        self.chosen = chosen
        self.open = open
    }

    /// Opens the place, and lets the database remember a chosen one unless the store is only read.
    ///
    /// - Returns: nil if none was chosen and none is remembered: then all bytes are in their rows; or if none was chosen and
    ///   the role may not read bytes.
    /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if the database remembers another; ``DatabaseError``
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
        var remembered: String? = try connection.run(look).rows.first?[0]
        // Only the first program needs the right to change it.
        if remembered == nil, access != .readOnly {
            try connection.run(
                "UPDATE \(url.quoted).schema_version SET bytes_place = $1 WHERE bytes_place IS NULL",
                [storage.location]
            )
            remembered = try connection.run(look).rows.first?[0]
        }
        guard let remembered, remembered != storage.location else { return storage }
        storage.close()
        throw StoreError.cannotOpen(
            path: url.location,
            reason: "it keeps its bytes in \(remembered) and not in \(storage.location)"
        )
    }
}
