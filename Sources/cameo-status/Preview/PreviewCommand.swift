internal import ArgumentParser
internal import CameoModel
package import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct PreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show thumbnails in the terminal.",
        discussion: """
            Terminals that can, show the picture itself: by kitty's graphics protocol (kitty, Ghostty, Konsole) or by \
            iTerm2's inline images (iTerm2, WezTerm, mintty). Others, and what is no terminal, get coloured half blocks; \
            without colours if NO_COLOR is set. Stored bytes are decoded by a sandboxed cameo-renderer, which must stand \
            beside this program.

            EXAMPLES
              cameo-status preview 17
              cameo-status preview cameo://thumb/0123456789abcdef0123456789abcdef
              cameo-status preview 17 --as blocks | less -R

            EXIT CODES
              0 done, 1 there is no such job, URI or thumbnail, or it cannot be shown, 2 bad usage, 4 the store cannot be \
            opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The id of a job, for all its thumbnails, or a cameo: URI.")
    var picture: PreviewedPicture

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("How: kitty, iterm or blocks. (default: what the terminal can show)", valueName: "way")
    )
    var way: TerminalPictures?

    func run() async throws {
        let store = try storeOptions.openReading()
        let pictures = try await pictures(in: store)
        let renderer = try PreviewRenderer()
        do {
            for (title, data) in pictures {
                if pictures.count > 1 { Output.line(title) }
                try await show(data, title, by: renderer)
            }
        } catch {
            await renderer.end()
            throw error
        }
        await renderer.end()
    }

    private func pictures(in store: any Store) async throws -> [(title: String, data: Data)] {
        switch picture {
        case .uri(let uri): return [(uri.text, try await store.data(of: uri))]
        case .job(let id):
            let job = try await store.job(id)
            var pictures: [(String, Data)] = []
            for thumbnail in job.thumbnails where thumbnail.blob != nil {
                pictures.append((TerminalText.escaped(thumbnail.name), try await store.data(of: thumbnail.uri)))
            }
            guard !pictures.isEmpty else {
                throw CommandFailure("job \(id) has no thumbnails: it is \(job.state.rawValue)", .failed)
            }
            return pictures
        }
    }

    private func show(_ data: Data, _ title: String, by renderer: PreviewRenderer) async throws {
        let environment = ProcessInfo.processInfo.environment
        let isTerminal = OutputTerminal.obeysEscapes
        let way = way ?? (isTerminal ? TerminalPictures(environment: environment) : .blocks)
        let terminal = OutputTerminal.current ?? OutputTerminal(columns: 80, rows: 24)
        let box = way == .blocks ? terminal.halfBlocks : terminal.pixels
        let png = try await renderer.png(
            of: data,
            named: title,
            Rendition(width: box.width, height: box.height, format: .png)
        )
        if let sequence = way.sequence(png: png) {
            Output.bytes(Data(sequence.utf8))
        } else if let pixels = Pixels(png: png) {
            let hasAllColors = ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "")
            let colors: HalfBlocks.Colors =
                OutputTerminal.allowsColor ? (hasAllColors ? .all : .palette) : .none
            Output.lines(HalfBlocks.lines(pixels, colors))
        } else {
            throw CommandFailure("\(title) cannot be shown: the renderer's answer is not understood", .failed)
        }
    }
}

/// What a preview shows.
enum PreviewedPicture: ExpressibleByArgument {
    case job(Int64)
    case uri(CameoURI)

    init?(argument: String) {
        if let id = Int64(argument) {
            self = .job(id)
        } else if let uri = CameoURI(argument) {
            self = .uri(uri)
        } else {
            return nil
        }
    }
}

extension TerminalPictures: ExpressibleByArgument {}
