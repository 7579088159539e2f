package import CameoSQLite
package import CameoStore

/// The one place where a store's name chooses its engine.
package enum Engine {
    /// Opens a store for writing, making it first if `creating`.
    package static func open(_ name: String, creating: Bool = true) throws(StoreError) -> any Store {
        try openEmbedded(name, creating: creating)
    }

    /// Opens a store for reading only: nothing of it is changed.
    package static func open(reading name: String) throws(StoreError) -> any Store {
        try openEmbedded(reading: name)
    }

    /// Opens a store that lies in a folder, for what only such a one has: check, repair, backup, vacuum.
    package static func openEmbedded(_ name: String, creating: Bool = true) throws(StoreError) -> SQLiteStore {
        try SQLiteStore(at: try folder(of: name), creating: creating)
    }

    /// The same for reading only.
    package static func openEmbedded(reading name: String) throws(StoreError) -> SQLiteStore {
        try SQLiteStore(reading: try folder(of: name))
    }

    private static func folder(of name: String) throws(StoreError) -> String {
        switch StoreName(name) {
        case .folder(let path): return path
        case .unknown(let scheme): throw .unknownEngine(name: name, scheme: scheme)
        }
    }
}
