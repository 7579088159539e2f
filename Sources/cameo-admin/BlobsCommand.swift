internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

struct BlobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blobs",
        abstract: "Take over the bytes of another store.",
        subcommands: [AdoptCommand.self]
    )
}

struct AdoptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Make this store the owner of the bucket or shared folder that it keeps large blobs in.",
        discussion: """
            A bucket or shared folder has the mark of one store. A store that was restored from a dump, or whose server \
            was upgraded by pg_upgrade, has another mark: it reads the bytes there, keeps new ones in its own rows, and \
            removes none. This command leaves its mark in the other's place. Do it only if the other store is gone: from \
            then on it only reads, and what it needs is removed by this one's `cameo-admin check --repair`.

            EXAMPLES
              cameo-admin blobs adopt --store postgres://cameo@db.example/pictures

            EXIT CODES
              0 the bytes are this store's, 2 bad usage, 4 the store cannot be opened or has no bytes outside
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Print JSON: {\"adopted\":…,\"owner\":…}; owner is the other store's mark, if it was not this one's.")
    var json = false

    func run() async throws {
        let store = try storeOptions.open(creating: false)
        let others = try await store.adoptBytes()
        await store.finish()
        if json {
            try Output.message(Adoption(adopted: others != nil, owner: others?.owner))
        } else {
            Output.line(others.map { "took \($0.location) over from \($0.owner)" } ?? "the bytes were this store's")
        }
    }

    private struct Adoption: Encodable {
        let adopted: Bool
        let owner: String?
    }
}
