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
              cameo-status cat cameo://thumb/0123456789abcdef0123456789abcdef --vtt sheet.webp > sheet.vtt

            EXIT CODES
              0 done, 1 the URI resolves to nothing, or its bytes are damaged, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "A URI: cameo://thumb/…, cameo://blob/sha256-… or cameo://source/…")
    var uri: CameoURI

    @Option(
        name: .shortAndLong,
        help: "Write to this file, which must not exist; - for standard output. (default: -)".taking("file"),
        completion: .file()
    )
    var output = "-"

    @Option(
        help: "Write the WebVTT file of a storyboard instead, with this name or address of its sheet.".taking("sheet")
    )
    var vtt: String?

    func validate() throws {
        if let vtt, vtt.isEmpty || vtt.contains(where: \.isWhitespace) {
            throw ValidationError("--vtt: must be a name or address without spaces, as in a URL")
        }
        guard output != "-" || vtt != nil || !Output.outputIsTerminal else {
            throw ValidationError("refusing to write a picture to a terminal: redirect it, or use --output FILE")
        }
    }

    func run() async throws {
        let data = try await data(in: storeOptions.openReading())
        guard output != "-" else { return Output.bytes(data) }
        do {
            try data.write(to: URL(filePath: output), options: .withoutOverwriting)
        } catch {
            throw CommandFailure("cannot write \(output): \(error.localizedDescription)", .failed)
        }
    }

    private func data(in store: any ReaderStore) async throws -> Data {
        guard let vtt else { return try await store.data(of: uri) }
        guard let text = try await store.webVTT(of: uri, sheet: vtt) else {
            throw CommandFailure("\(uri) is no storyboard of a video", .failed)
        }
        return Data(text.utf8)
    }
}

extension CameoURI: ExpressibleByArgument {
    /// Parses the URI as it is written in JSON and in URLs.
    public init?(argument: String) { self.init(argument) }
}
