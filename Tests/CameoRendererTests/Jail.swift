import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// Pools of real renderers, or of real `cameo-frames`, that try to break out of their sandbox, and report the result.
struct Jail {
    /// What is in it.
    enum Program: CaseIterable {
        case renderer, frames

        /// Those that are built.
        static let all = Videos.canBeTested ? allCases : [.renderer]

        var executable: String { self == .renderer ? Renderers.hooked : Repository.builtProduct("cameo-frames-hooked") }
        fileprivate var kind: SourceKind { self == .renderer ? .file : .video }
    }

    let pool: RendererPool
    private let program: Program
    private let folder: TemporaryFolder

    /// Renderers that run as if the kernel lacked some layers (`no_new_privs`, `Landlock`, `seccomp`), which only debug
    /// builds can simulate.
    ///
    /// - Returns: the path of a program that starts one.
    private static func without(_ layers: String, _ program: Program, in folder: TemporaryFolder) throws -> String {
        let script = "#!/bin/sh\nCAMEO_TEST_WITHOUT=\(layers) exec '\(program.executable)' \"$@\"\n"
        let path = try folder.write(Data(script.utf8), to: "program")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    /// A pool of one renderer for one test.
    static func with<Result>(
        _ program: Program = .renderer,
        without layers: String = "",
        requiresSandbox: Bool = false,
        _ body: (Jail) async throws -> Result
    ) async throws -> Result {
        let folder = try TemporaryFolder()
        var configuration = Renderers.configuration(program.executable, processes: 1)
        if !layers.isEmpty { configuration.executable = try without(layers, program, in: folder) }
        configuration.requiresSandbox = requiresSandbox
        return try await Renderers.withPool(configuration) { pool in
            try await body(Jail(pool: pool, program: program, folder: folder))
        }
    }

    /// The result of an attempt, in the words of `BreakOut`; then another source is served as if nothing had happened.
    func attempt(_ words: String, by source: OpenFile? = nil) async throws -> String {
        let file = try source ?? OpenFile.memory(containing: Data("CAMEO-TEST-TRY \(words)".utf8))
        let failure = await failure {
            try await pool.render([Rendition(width: 8)], of: file, holding: program.kind, named: "it")
        }
        #expect(failure?.code == .renderFailed)
        try await serve()
        return failure.map { String($0.message.dropFirst("it ".count)) } ?? ""
    }

    private func serve() async throws {
        if program == .renderer {
            let picture = try await pool.render(Rendition(width: 64), of: Pictures.photo("jpg"))
            #expect(picture.renditions[0].edges == [64, 43])
        } else {
            let source = try OpenFile(reading: try await Videos.clip("libx264", as: "clip.mp4", in: folder))
            let frame = try await pool.render([Videos.rendition("0")], of: source, holding: .video, named: "it")
            #expect(frame.source.edges == [160, 120])
        }
    }

    /// The process ids of the living renderers, spares included.
    var processes: [Int32] { pool.statistics.processes.sorted() }

    /// A field of each living renderer's /proc/PID/status.
    func status(_ field: String) throws -> [String] {
        try processes.map { process in
            let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(field):") })
            return line.dropFirst(field.count + 1).trimmingCharacters(in: .whitespaces)
        }
    }
}
