import CameoModel
import CameoRenderMessages
import CameoRenderer
import Foundation
import TestSupport

/// A program that a pool takes for `cameo-renderer` and that misbehaves.
struct FalseRenderer {
    private let folder: TemporaryFolder
    let path: String

    /// The script is Python, run once the socket is available as `s`; `say(kind, object)` sends a message, `hear()`
    /// receives a job and returns it with its files, `hello()` sends a valid hello, of a host that
    /// lacks what its arguments name.
    init(_ script: String) throws {
        folder = try TemporaryFolder()
        let program = """
            import json, os, socket, struct, sys, time, zlib
            s = socket.socket(fileno=3)
            SANDBOX = {"noNewPrivileges": True, "landlock": 7, "seccomp": True, "noCapabilities": True}
            def say(kind, value):
                text = json.dumps(value).encode()
                s.sendall(kind.encode() + struct.pack("<I", len(text)) + text)
            def hello(*lacks):
                words = {"rendererVersion": "false", "sandbox": SANDBOX, "lacks": lacks}
                say("HEL1", {"protocolVersion": \(RendererProtocol.version), **words})
            def hear():
                data, files, _, _ = socket.recv_fds(s, 65536, 16)
                return json.loads(data[8:]), files
            def picture(*renditions, truncated=False, **changes):
                source = {"format": "png", "width": 1, "height": 1, "pages": 1, "hasAlpha": False, "omitted": [], **changes}
                say("PIC1", {"source": source, "isTruncated": truncated, "renditions": list(renditions)})
            def rendition(**changes):
                placeholder = {"thumbHash": "1QcSHQRnh493", "blurHash": "L6Pj0^", "dominantColor": "#000000ff"}
                made = {"format": "png", "width": 1, "height": 1, "bytes": len(PNG), "hasAlpha": False, "frames": 1}
                return {**made, "placeholder": placeholder, **changes}
            def wait():
                s.recv(1)
            def chunk(name, data=b""):
                return struct.pack(">I4s", len(data), name) + data + struct.pack(">I", zlib.crc32(name + data))
            def png(width=1, height=1, *more):
                head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
                return b"\\x89PNG\\r\\n\\x1a\\n" + head + chunk(b"IDAT", zlib.compress(b"")) + b"".join(more) + chunk(b"IEND")
            def long_png(length):
                return png(1, 1, chunk(b"teXt", bytes(length - len(PNG) - 12)))
            PNG = png()
            \(script)
            """
        // Not a program that this process writes: while it has one open for writing, a child that another test is starting
        // may inherit it, and the system runs no file that anybody can write (ETXTBSY).
        _ = try folder.write(Data(program.utf8), to: "program.py")
        path = folder.path("cameo-renderer")
        let launcher = Repository.file("Tests/TestSupport/false_renderer.py")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: launcher.path)
    }
}

extension FalseRenderer {
    /// Runs with a pool of this one.
    static func withPool<Result>(_ script: String, _ body: (RendererPool) async throws -> Result) async throws -> Result
    {
        let renderer = try FalseRenderer(script)
        let configuration = RendererConfiguration(executable: renderer.path, processes: 1)
        return try await Renderers.withPool(configuration, body)
    }
}

extension RendererPool {
    /// How a small picture fails.
    func failure() async -> JobFailure? {
        await CameoRendererTests.failure {
            try await render(Rendition(width: 8, format: .png), of: Pictures.plain(30, 20))
        }
    }
}
