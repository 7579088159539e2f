package import ArgumentParser
internal import CameoEngine
package import CameoSQLite
package import CameoStore
internal import CameoSystem
internal import Foundation

/// The option that selects the store, for every command.
package struct StoreOptions: ParsableArguments {
    @Option(
        name: .long,
        help: """
            The store's folder; in a build for fleets also postgres://user@host/database?schema=cameo. (default: \
            $CAMEO_STORE, else ./cameo-store)
            """.taking("dir"),
        completion: .directory
    )
    package var store: String?

    @Option(
        name: .long,
        help: """
            Where a database keeps large pictures: s3://bucket/prefix?endpoint=https://host&region=name, or a folder \
            that all hosts share. The store remembers it. (default: $CAMEO_BLOBS, else what the store remembers, else \
            its own tables)
            """.taking("place")
    )
    package var blobs: String?

    package init() {}

    /// Refuses an empty name, which would mean the working directory: usually it is a shell variable without a value.
    package func validate() throws {
        guard store?.isEmpty != true else { throw ValidationError("--store: must name a folder, but is empty") }
        guard blobs?.isEmpty != true else { throw ValidationError("--blobs: must name a place, but is empty") }
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

    /// Where a database keeps large pictures, if the command line or the environment says so.
    package var place: String? {
        blobs ?? ProcessInfo.processInfo.environment["CAMEO_BLOBS"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Opens the store for writing. If `creating`, makes it first if necessary.
    package func open(creating: Bool = true) throws(StoreError) -> any Store & ExportableStore {
        let store = try Engine.open(path, blobs: place, creating: creating)
        store.onCommitWait { Output.error("\(ProcessInfo.processInfo.processName): \($0)") }
        return store
    }

    /// Opens the store read-only; nothing in it is changed.
    package func openReading() throws(StoreError) -> any Store {
        try Engine.open(reading: path, blobs: place)
    }

    /// The same options, with a store that an argument names, if it does.
    package func named(_ name: String?) throws -> StoreOptions {
        guard let name else { return self }
        guard store == nil else { throw ValidationError("name the store once: as an argument, or with --store") }
        var options = self
        options.store = name
        try options.validate()
        return options
    }

    /// Makes the store keep large pictures in the place that the options name, and returns the one that it remembered.
    package func setPlace() throws -> (before: String?, now: String) {
        guard let place else { throw ValidationError("--blobs: name the place") }
        return (try Engine.setBytesPlace(of: path, to: place), place)
    }

    /// Opens a database of another program with attached tables: an SQLite file, by its path without symbolic links.
    package static func open(others path: String) throws(StoreError) -> any FollowedDatabase {
        let absolute = FilePaths.absolute(path)
        let real = realpath(absolute, nil)
        defer { free(real) }
        return try Engine.open(others: real.map { String(cString: $0) } ?? absolute)
    }

    /// Opens a store in a folder, for operations that only such a store has: backup, vacuum. `instead` says what to do
    /// with another store, for the error's message.
    package func openEmbedded(instead: String) throws(StoreError) -> SQLiteStore {
        try Engine.openEmbedded(path, instead: instead)
    }
}
