package import ArgumentParser
internal import CameoEngine
package import CameoSQLite
package import CameoStore
internal import Foundation

/// Where the store is, for every command.
package struct StoreOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The store's folder. Default: CAMEO_STORE, else ./cameo-store.", valueName: "dir"),
        completion: .directory
    )
    package var store: String?

    package init() {}

    /// An empty name would mean the working directory: that is a shell's variable without a value, not a wish.
    package func validate() throws {
        guard store?.isEmpty != true else { throw ValidationError("--store: must name a folder, and is empty") }
    }

    package var path: String {
        StoreName.chosen(option: store, environment: ProcessInfo.processInfo.environment)
    }

    /// For a message about the store: that its name came from the environment, if it did.
    static var origin: String {
        let isTyped = CommandLine.arguments.contains { $0 == "--store" || $0.hasPrefix("--store=") }
        let variable = ProcessInfo.processInfo.environment["CAMEO_STORE"] ?? ""
        return isTyped || variable.isEmpty ? "" : " (CAMEO_STORE names it)"
    }

    /// Opens the store for writing, making it first if `creating`.
    package func open(creating: Bool = true) throws(StoreError) -> any Store {
        try Engine.open(path, creating: creating)
    }

    /// Opens the store for reading only: nothing of it is changed.
    package func openReading() throws(StoreError) -> any Store {
        try Engine.open(reading: path)
    }

    /// Opens a store that lies in a folder, for what only such a one has: check, repair, backup, vacuum.
    package func openEmbedded() throws(StoreError) -> SQLiteStore {
        try Engine.openEmbedded(path, creating: false)
    }

    /// The same for reading only.
    package func openEmbeddedReading() throws(StoreError) -> SQLiteStore {
        try Engine.openEmbedded(reading: path)
    }
}
