internal import CameoModel
internal import CameoRenderer
internal import CommandSupport
internal import Foundation

/// Makes PNGs of stored bytes, which are not decoded in this process: a sandboxed renderer does that.
struct PreviewRenderer {
    private let pool: RendererPool

    init() throws(CommandFailure) {
        let executable = RendererConfiguration.siblingExecutable
        do {
            pool = try RendererPool(RendererConfiguration(executable: executable, processes: 1))
        } catch {
            throw CommandFailure("\(error)", .failed)
        }
    }

    /// The picture in a box of this size, as a PNG of 8 bits a channel.
    func png(of data: Data, named name: String, _ rendition: Rendition) async throws -> Data {
        do {
            try await pool.waitUntilReady()
            let file = try OpenFile.memory(containing: data)
            let picture = try await pool.render([rendition], of: file, named: name)
            return picture.renditions[0].bytes
        } catch let error as RendererUnavailable {
            throw CommandFailure("no renderer can be started: \(error)", .failed)
        } catch let failure as JobFailure {
            throw CommandFailure(failure.message, .failed)
        }
    }

    func end() async { await pool.shutdown() }
}
