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
            Terminals that can, show the picture itself: by kitty's graphics protocol (kitty, Ghostty, Konsole), by \
            iTerm2's inline images (iTerm2, WezTerm, mintty), or by sixels (foot, mlterm, contour, and whichever says so \
            when it is asked: xterm -ti vt340, Windows Terminal). Others, tmux, screen, and what is no terminal, get \
            coloured half blocks; without colours if NO_COLOR is set. Stored bytes are decoded by a sandboxed \
            cameo-renderer, which must stand beside this program.

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
        help: ArgumentHelp(
            "How: kitty, iterm, sixel or blocks. (default: what the terminal can show)",
            valueName: "way"
        )
    )
    var way: TerminalPictures?

    func run() async throws {
        let store = try storeOptions.openReading()
        let pictures = try await pictures(in: store)
        let (way, colors) = try choice()
        let renderer = try PreviewRenderer()
        do {
            for (title, data) in pictures {
                if pictures.count > 1 { Output.line(title) }
                try await show(data, title, way, colors, by: renderer)
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

    /// How pictures are shown, and how many colours sixels may have.
    private func choice() throws -> (way: TerminalPictures, colors: Int) {
        let environment = ProcessInfo.processInfo.environment
        guard way == nil, OutputTerminal.obeysEscapes else { return (way ?? .blocks, Sixel.colors) }
        if let known = TerminalPictures(environment: environment) { return (known, Sixel.colors) }
        let answer = try TerminalAnswer.ofTerminal()
        return (answer.showsSixels ? .sixel : .blocks, answer.colors)
    }

    private func show(
        _ data: Data,
        _ title: String,
        _ way: TerminalPictures,
        _ colors: Int,
        by renderer: PreviewRenderer
    ) async throws {
        let box = box(for: way)
        let png = try await renderer.png(
            of: data,
            named: title,
            Rendition(width: box.width, height: box.height, format: .png)
        )
        if let sequence = way.sequence(png: png) {
            Output.bytes(Data(sequence.utf8))
        } else if let pixels = Pixels(png: png) {
            if way == .sixel {
                Output.bytes(Sixel.sequence(pixels, colors: colors))
            } else {
                Output.lines(HalfBlocks.lines(pixels, blockColors))
            }
        } else {
            throw CommandFailure("\(title) cannot be shown: the renderer's answer is not understood", .failed)
        }
    }

    private func box(for way: TerminalPictures) -> (width: Int, height: Int) {
        let terminal = OutputTerminal.current ?? OutputTerminal(columns: 80, rows: 24)
        let (width, height) = terminal.pixels
        return switch way {
        case .kitty, .iterm: (width, height)
        case .sixel: (min(width, Sixel.edge), min(height, Sixel.edge))
        case .blocks: terminal.halfBlocks
        }
    }

    private var blockColors: HalfBlocks.Colors {
        guard OutputTerminal.allowsColor else { return .none }
        let hasAll = ["truecolor", "24bit"].contains(ProcessInfo.processInfo.environment["COLORTERM"] ?? "")
        return hasAll ? .all : .palette
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
