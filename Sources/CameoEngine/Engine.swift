package import CameoSQLite
package import CameoStore

#if Fleet
    internal import CameoObjectStorage
    internal import CameoPostgreSQL
    internal import Foundation
#endif

/// The only place where a store's name selects its engine.
package enum Engine {
    /// Opens a store for writing: a folder or, in a build for fleets, the URL of a database. `blobs` is where a database keeps
    /// large bytes: `s3://bucket/prefix?…` or a folder that all machines share. The database remembers it; nil: as it
    /// remembers, else in its own rows.
    package static func open(
        _ name: String,
        blobs: String? = nil,
        creating: Bool = true
    ) throws(StoreError) -> any Store & ExportableStore {
        #if Fleet
            if case .database(let url) = StoreName(name) {
                return try database(url, creating ? .creating : .readWrite, blobs: blobs)
            }
        #endif
        return try SQLiteStore(at: try folder(of: name, blobs), creating: creating)
    }

    /// Opens a store read-only.
    package static func open(reading name: String, blobs: String? = nil) throws(StoreError) -> any Store {
        #if Fleet
            if case .database(let url) = StoreName(name) { return try database(url, .readOnly, blobs: blobs) }
        #endif
        return try SQLiteStore(reading: try folder(of: name, blobs))
    }

    /// Makes a database that nobody uses keep large bytes in another place, where it has none in the one that it remembers.
    ///
    /// - Returns: the place that it remembered; nil if it remembered none.
    package static func setBytesPlace(of name: String, to blobs: String) throws(StoreError) -> String? {
        #if Fleet
            if case .database(let url) = StoreName(name) {
                return try PostgreSQLStore.setBytes(place(blobs, creating: true), of: DatabaseURL(url))
            }
        #endif
        _ = try folder(of: name, blobs, "name a database")
        return nil
    }

    /// Opens a store in a folder, for operations that only the embedded engine has: backup, vacuum.
    /// `instead` says what to do with a store that is not in a folder, for the error's message.
    package static func openEmbedded(_ name: String, instead: String) throws(StoreError) -> SQLiteStore {
        try SQLiteStore(at: try folder(of: name, nil, instead), creating: false)
    }

    /// Opens a database of another program with attached tables: an SQLite file.
    package static func open(others path: String) throws(StoreError) -> any FollowedDatabase {
        try OwnDatabase(at: path)
    }

    /// The folder of a store that keeps its own bytes there, and not in a place for `blobs`.
    private static func folder(
        of name: String,
        _ blobs: String?,
        _ instead: String = "name a folder"
    ) throws(StoreError) -> String {
        switch StoreName(name) {
        case .folder(let path):
            guard let blobs else { return path }
            throw .cannotOpen(path: blobs, reason: "a store in a folder keeps its own bytes")
        case .database(let url):
            #if Fleet
                throw .needsFolder(name: try DatabaseURL(url).location, instead: instead)
            #else
                throw .unknownEngine(name: url, scheme: String(url.prefix { $0 != ":" }).lowercased())
            #endif
        case .unknown(let scheme): throw .unknownEngine(name: name, scheme: scheme)
        }
    }

    #if Fleet
        private static func database(
            _ name: String,
            _ access: PostgreSQLStore.Access,
            blobs: String?
        ) throws(StoreError) -> PostgreSQLStore {
            let place = place(blobs, creating: blobs != nil && access == .creating)
            return try PostgreSQLStore(DatabaseURL(name), access, bytes: place)
        }

        private static func place(_ blobs: String?, creating: Bool) -> BytesPlace {
            BytesPlace(chosen: blobs) { name throws(StoreError) in
                try ByteStorages.open(name, creating: creating, environment: ProcessInfo.processInfo.environment)
            }
        }
    #endif
}
