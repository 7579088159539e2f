package import CameoSQLite
package import CameoStore

/// The only place where a store's name selects its engine.
package enum Engine {
    /// Opens a store for writing; `creating` creates it if it does not exist.
    package static func open(_ name: String, creating: Bool = true) throws(StoreError) -> any Store {
        try openEmbedded(name, creating: creating)
    }

    /// Opens a store read-only.
    package static func open(reading name: String) throws(StoreError) -> any Store {
        try openEmbedded(reading: name)
    }

    /// Opens a store in a folder, for operations that only the embedded engine has: check, repair, backup, vacuum.
    package static func openEmbedded(_ name: String, creating: Bool = true) throws(StoreError) -> SQLiteStore {
        try SQLiteStore(at: try folder(of: name), creating: creating)
    }

    /// Opens a store in a folder read-only.
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
