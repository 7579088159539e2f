import Foundation
import TestSupport
import Testing

/// The server of the documentation, with a real worker.
@Suite(.timeLimit(.minutes(10)))
struct ServerExampleTests {
    @Test func theDocumentedServerTakesAPictureAndServesItsThumbnailByItsTag() async throws {
        let folder = try TemporaryFolder()
        let (store, socket) = (folder.path("store"), folder.path("socket"))
        let server = try ChildProcess(try WebProcess.executable("cameo-server-example"), [store, socket])
        defer { server.killGroup() }
        func curl(_ arguments: String...) async throws -> ProcessResult {
            try await run("curl", ["-sS", "--unix-socket", socket, "-o", folder.path("body"), "-D", "-"] + arguments)
        }
        while try await curl("http://localhost/").exitStatus != 0 { try await Task.sleep(for: .milliseconds(20)) }

        let photo = try await Pictures.photo("jpg")
        let created = try await curl("--data-binary", "@\(photo)", "http://localhost/pictures").outputText
        let location = created.firstMatch(of: #/(?i)location: (\/thumb\/[0-9a-f]{32})/#)
        let path = try #require(location?.output.1, "\(created)")
        async let waited = curl("http://localhost\(path)").outputText
        let worker = try ChildProcess(try WebProcess.executable("cameo-worker"), ["--store", store, "--drain"])
        defer { worker.killGroup() }
        #expect(await worker.ending == .exited(0))
        let first = try await waited
        #expect(first.hasPrefix("HTTP/1.1 200") && first.contains(#/(?i)content-type: image\/webp/#), "\(first)")
        let bytes = try Data(contentsOf: URL(filePath: folder.path("body")))
        #expect(bytes.starts(with: Data("RIFF".utf8)))
        let tag = try #require(first.firstMatch(of: #/(?i)etag: ("[^"]+")/#)?.output.1)
        let second = try await curl("-H", "If-None-Match: \(tag)", "http://localhost\(path)").outputText
        #expect(second.hasPrefix("HTTP/1.1 304"), "\(second)")
        let unknown = try await curl("http://localhost/thumb/x").outputText
        #expect(unknown.hasPrefix("HTTP/1.1 404"), "\(unknown)")

        while server.standardOutput.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        server.send(SIGTERM)
        #expect(await server.ending == .exited(0), "\(String(decoding: server.standardError, as: UTF8.self))")
        #expect(String(decoding: server.standardOutput, as: UTF8.self) == "job 1: completed\n")
    }
}
