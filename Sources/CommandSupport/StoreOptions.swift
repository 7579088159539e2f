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

    package var path: String {
        StoreDirectory.chosen(option: store, environment: ProcessInfo.processInfo.environment)
    }
}
