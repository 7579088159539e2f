import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// Real pools of real `cameo-renderer` processes.
enum Renderers {
    /// The program built beside this test bundle.
    static let executable = Repository.builtProduct("cameo-renderer")
    /// The same program, which some sources make misbehave (`TestHook`).
    static let hooked = Repository.builtProduct("cameo-renderer-hooked")

    /// A pool for tests that do nothing to their renderer; lives as long as the process.
    static let shared = Result { try RendererPool(configuration(executable)) }

    static func configuration(_ executable: String = hooked, processes: Int = 2) -> RendererConfiguration {
        var configuration = RendererConfiguration(executable: executable, processes: processes)
        // All tests at once take their time.
        configuration.timeout = .seconds(300)
        return configuration
    }

    /// A pool for one test, shut down after it.
    static func withPool<Result>(
        _ configuration: RendererConfiguration = configuration(processes: 1),
        _ body: (RendererPool) async throws -> Result
    ) async throws -> Result {
        let pool = try RendererPool(configuration)
        do {
            let result = try await body(pool)
            await pool.shutdown()
            return result
        } catch {
            await pool.shutdown()
            throw error
        }
    }
}

extension RendererPool {
    func render(
        _ renditions: Rendition...,
        of path: String,
        timeout: Duration? = nil
    ) async throws -> RenderedPicture {
        try await render(renditions, of: try OpenFile(reading: path), named: path, timeout: timeout)
    }

    func render(
        _ renditions: [Rendition],
        of source: OpenFile,
        holding kind: SourceKind = .file,
        overlays: [RenderOverlay] = [],
        named name: String,
        scopes: Set<RequestScope> = [],
        timeout: Duration? = nil
    ) async throws -> RenderedPicture {
        var request = RenderRequest(renditions, of: source, named: name)
        (request.kind, request.overlays) = (kind, overlays)
        (request.scopes, request.timeout) = (scopes, timeout)
        return try await render(request, clock: WorkClock())
    }
}

extension OpenFile {
    convenience init(reading path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno() }
        self.init(adopting: descriptor)
    }
}

/// What a pool for tests that do nothing to their renderer makes.
func render(_ renditions: Rendition..., of path: String) async throws -> RenderedPicture {
    try await Renderers.shared.get().render(renditions, of: OpenFile(reading: path), named: path)
}

func rendered(_ rendition: Rendition, of path: String) async throws -> EncodedRendition {
    try await render(rendition, of: path).renditions[0]
}

/// The failure of a render that must fail.
func failure(of render: () async throws -> RenderedPicture) async -> JobFailure? {
    await #expect(throws: JobFailure.self) { _ = try await render() }
}

extension PictureFacts {
    /// Width and height.
    var edges: [Int] { [width, height] }
}

extension EncodedRendition {
    /// Width and height.
    var edges: [Int] { [width, height] }
}
