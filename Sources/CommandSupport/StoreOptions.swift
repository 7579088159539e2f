package import ArgumentParser
internal import CameoStore
internal import Foundation

/// Where the store is, for every command.
package struct StoreOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The store's folder. Default: CAMEO_STORE, else ./cameo-store.", valueName: "dir")
    )
    package var store: String?

    package init() {}

    /// An empty name would mean the working directory: that is a shell's variable without a value, not a wish.
    package func validate() throws {
        guard store?.isEmpty != true else { throw ValidationError("--store: must name a folder, and is empty") }
    }

    package var path: String {
        StoreDirectory.chosen(option: store, environment: ProcessInfo.processInfo.environment)
    }
}
