public import ArgumentParser
public import CameoModel
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct CatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Write the bytes of a cameo: URI to standard output or a file.",
        discussion: """
            EXAMPLES
              cameo-status cat cameo://thumb/0123456789abcdef0123456789abcdef > thumbnail.webp
              cameo-status cat cameo://source/https%3A%2F%2Fexample.com%2Fcat.jpg --output cat.jpg

            EXIT CODES
              0 done, 1 the URI resolves to nothing, or its bytes are damaged, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "A URI: cameo://thumb/…, cameo://blob/sha256-… or cameo://source/…")
    var uri: CameoURI

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write to this file, which must not exist; - for standard output. (default: -)",
            valueName: "file"
        ),
        completion: .file()
    )
    var output = "-"

    func validate() throws {
        guard output != "-" || !Output.outputIsTerminal else {
            throw ValidationError("refusing to write a picture to a terminal: redirect it, or use --output FILE")
        }
    }

    func run() async throws {
        let data = try await storeOptions.openReading().data(of: uri)
        guard output != "-" else { return Output.bytes(data) }
        do {
            try data.write(to: URL(filePath: output), options: .withoutOverwriting)
        } catch {
            throw CommandFailure("cannot write \(output): \(error.localizedDescription)", .failed)
        }
    }
}

extension CameoURI: ExpressibleByArgument {
    /// Parses the URI as it is written in JSON and in URLs.
    public init?(argument: String) { self.init(argument) }
}
