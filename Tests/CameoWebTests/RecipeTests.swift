import Foundation
import TestSupport
import Testing

/// The proxies of the documentation, before a real server and a worker, looked through with Chromium.
@Suite(.timeLimit(.minutes(10)))
struct RecipeTests {
    @Test(arguments: [
        ("nginx", ["location /cameo/"]), ("nginx", ["location /cameo/", "proxy_cache_path"]),
        ("caddy", ["handle /cameo"]),
    ])
    func theDocumentedProxiesShowEveryPicture(program: String, beginnings: [String]) async throws {
        let folder = try TemporaryFolder()
        let blocks = try Page.article("Web").blocks.map(\.text)
        let recipe = try beginnings.map { beginning in try #require(blocks.first { $0.contains(beginning) }) }
        let tokens = try folder.write(Data("test read,enqueue 0123456789abcdef\n".utf8), to: "tokens")
        let key = try folder.write(Data("0123456789abcdef".utf8), to: "key")
        var options = ["--store", folder.path("store"), "--listen", "unix:\(folder.path("socket"))"]
        options += ["--base-path", "/cameo", "--tokens", tokens, "--sign-key", key, "--max-age", "1s"]
        let server = try await WebProcess.start(options, environment: [:])
        defer { server.process.killGroup() }
        try folder.write(Data("\(server.process.processID)".utf8), to: "server.pid")
        let worker = try ChildProcess(try WebProcess.executable("cameo-worker"), ["--store", folder.path("store")])
        defer { worker.killGroup() }
        let noise = folder.path("noise.jpg")
        _ = try await run("vips", ["gaussnoise", "\(noise)[Q=100]", "1600", "1600", "--sigma", "90"])
        let script = Repository.file("Tests/CameoWebTests/recipes.py").path
        let browser = try await run(
            "/usr/bin/python3",
            [script, program, recipe.joined(separator: "\n"), folder.url.path, noise],
            environment: [
                "PYTHONPATH": Repository.file("Tests/Laboratory/browsing").path, "PYTHONDONTWRITEBYTECODE": "1",
            ]
        )
        #expect(browser.outputText == "ok\n", "\(browser.errorText)")
    }
}
