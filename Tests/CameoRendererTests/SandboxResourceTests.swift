import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// What a renderer and `cameo-frames` have in their sandbox: descriptors, an environment, fonts.
@Suite(.timeLimit(.minutes(10)))
struct SandboxResourceTests {
    @Test(arguments: Jail.Program.all)
    func hasExactlyTheseDescriptorsAndThisEnvironment(_ program: Jail.Program) async throws {
        try await Jail.with(program) { jail in
            // /dev/null twice, standard error, the worker, /proc/self/status.
            #expect(try await jail.attempt("descriptors") == "sees 0 1 2 3 4")
            // VIPSHOME is set by libvips itself, from where it was installed.
            let home = program == .renderer ? "VIPSHOME=/usr " : ""
            let environment = "sees MALLOC_ARENA_MAX=2 SWIFT_BACKTRACE=enable=no \(home)VIPS_CONCURRENCY=1"
            #expect(try await jail.attempt("environment") == environment)
            let process = try #require(jail.processes.first)
            let names = try (0...4).map {
                try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
                    .prefix { $0 != ":" }
            }
            #expect(names == ["/dev/null", "/dev/null", "pipe", "socket", "/proc/\(process)/status"])
        }
    }

    /// Not only of malloc: whatever a decoder is given, it cannot hand over what an earlier picture left.
    @Test(arguments: Jail.Program.all)
    func memoryHoldsNothingOfWhatWasFreed(in program: Jail.Program) async throws {
        try await Jail.with(program) { jail in
            for first in stride(from: 0, to: 1_000, by: 50) {
                let found = try await jail.attempt("memory \(first) 50")
                #expect(found == "found 0 bytes")
            }
        }
    }

    /// Fonts are readable in the sandbox: the drawing looks like that of libvips' own tool outside.
    @Test func textInADrawingFindsItsFonts() async throws {
        let svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="320" height="120"><rect width="320" height="120" fill="white"/>
            <text x="20" y="80" font-family="sans-serif" font-size="48">Cameo</text></svg>
            """
        let path = try await Pictures.bytes("text.svg", Array(svg.utf8))
        try await Jail.with { jail in
            let rendition = Rendition(width: 320, format: .jpeg, quality: 95)
            let picture = try await jail.pool.render(rendition, of: path)
            let specimen = try await Specimen(picture.renditions[0])
            #expect(specimen.edges == [320, 120])
            let reference = try await specimen.beside("reference.png") { reference in
                try await Pictures.vips("svgload", path, "\(reference).v")
                try await Pictures.vips("flatten", "\(reference).v", reference)
            }
            let ink = Double(try await Pictures.vips("avg", reference)) ?? .nan
            #expect(ink < 250, "the reference itself shows text")
            #expect(try await specimen.difference(to: reference) < 2)
        }
    }
}
