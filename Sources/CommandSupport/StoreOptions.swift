package import ArgumentParser
internal import CameoEngine
package import CameoSQLite
package import CameoStore
internal import Foundation

/// The option that selects the store, for every command.
package struct StoreOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The store's folder. (default: $CAMEO_STORE, else ./cameo-store)", valueName: "dir"),
        completion: .directory
    )
    package var store: String?

    package init() {}

    /// Refuses an empty name, which would mean the working directory: usually it is a shell variable without a value.
    package func validate() throws {
        guard store?.isEmpty != true else { throw ValidationError("--store: must name a folder, but is empty") }
    }

    package var path: String {
        StoreName.chosen(option: store, environment: ProcessInfo.processInfo.environment)
    }

    /// The end of a message about the store, telling whether its name came from the environment.
    static var origin: String {
        let isTyped = CommandLine.arguments.contains { $0 == "--store" || $0.hasPrefix("--store=") }
        let variable = ProcessInfo.processInfo.environment["CAMEO_STORE"] ?? ""
        return isTyped || variable.isEmpty ? "" : " (from CAMEO_STORE)"
    }

    /// Opens the store for writing. If `creating`, makes it first if necessary.
    package func open(creating: Bool = true) throws(StoreError) -> any Store {
        try Engine.open(path, creating: creating)
    }

    /// Opens the store read-only; nothing in it is changed.
    package func openReading() throws(StoreError) -> any Store {
        try Engine.open(reading: path)
    }

    /// Opens a store in a folder, for operations that only such a store has: check, repair, backup, vacuum.
    package func openEmbedded() throws(StoreError) -> SQLiteStore {
        try Engine.openEmbedded(path, creating: false)
    }

    /// Opens a store in a folder read-only.
    package func openEmbeddedReading() throws(StoreError) -> SQLiteStore {
        try Engine.openEmbedded(reading: path)
    }
}
