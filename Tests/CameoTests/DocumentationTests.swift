import Cameo
import Foundation
import StoreConformance
import TestSupport
import Testing

/// What the documentation shows is compiled, and run against a real store.
@Suite(.timeLimit(.minutes(10)))
struct DocumentationTests {
    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private func swiftBlocks(of page: Page) -> [String] {
        page.blocks.filter { $0.language == "swift" }.map(\.text)
    }

    private func program(_ name: String) throws -> String {
        try String(contentsOf: Repository.file("Tests/\(name)/main.swift"), encoding: .utf8)
    }

    @Test(arguments: [("Cameo", "CameoExample"), ("Web", "CameoServerExample")])
    func theProgramOfThePageIsTheOneThatIsCompiled(page: String, name: String) throws {
        #expect(swiftBlocks(of: try Page.article(page)) == [try program(name)])
    }

    @Test func everyExampleIsCompiled() throws {
        let path = "Tests/CameoTests/ArticleExamples.swift"
        let compiled = lines(try String(contentsOf: Repository.file(path), encoding: .utf8)).joined(separator: "\n")
        let programs = [try program("CameoExample"), try program("CameoServerExample")]
        var count = 0
        for page in try Page.all() {
            for block in swiftBlocks(of: page) where !programs.contains(block) {
                #expect(compiled.contains(lines(block).joined(separator: "\n")), "\(page.path): \(block)")
                count += 1
            }
        }
        #expect(count >= 14)
    }

    /// What the README shows, while this process plays the worker.
    @Test func theExampleOfTheReadmeWorks() async throws {
        let bench = try Workbench()
        let photo = Workbench.picture(1)
        async let thumbnail = roundAvatar(store: bench.path, photo: photo)
        try await ArticleExamples.untilEnqueued(try Client(store: bench.path))
        let worker = try await bench.register()
        try await bench.work(worker) { _ in Workbench.picture(2) }
        #expect(try await thumbnail == Workbench.picture(2))
    }

    @Test func theExamplesWork() async throws {
        let bench = try Workbench()
        let client = try Client(store: bench.path)
        let picture = Workbench.picture(1)
        let worker = try await bench.register()
        async let made = makeThumbnails(client, of: picture)
        try await ArticleExamples.untilEnqueued(client)
        try await bench.work(worker) { Workbench.picture($0 + 10) }
        let pictures = try await made
        #expect(pictures == [Workbench.picture(10), Workbench.picture(11)])
        let uri = try await client.store(picture)
        #expect(try await loadBytes(client, uri) == picture)
        #expect(try await loadToFile(client, uri, folder: bench.folder.url) == picture)
        #expect(try await writeToFile(client, uri, folder: bench.folder.url) == picture)
        #expect(try await loadCount(client, uri) == picture.count)
        #expect(try openWithMemory(bench.path) == 100_000_000)
        let origin = try await Origin.start()
        let page = try #require(URL(string: origin.url("/bytes?count=77")))
        #expect(try await loadThrough(client, page).count == 77)
        await origin.end()
        #expect(try await loadThrough(client, page).count == 77)
        let avatar = try await enqueueAvatar(client, picture)
        #expect(avatar.source == "cameo://source/user%3A42%2Favatar")
        #expect(try await forgetAvatar(client).originals == 1)
        #expect(try await retrySlowSources(client).changed == 0)
        try await stopAll(client)
        #expect(try await client.status().workers.map(\.stopping) == [.drain])
        await end(client)
    }

    /// The program of the first page, as a process, while this one plays the worker.
    @Test func theProgramOfTheFirstPageRuns() async throws {
        let bench = try Workbench()
        let picture = Workbench.picture(1, bytes: 150_000)
        let file = try bench.folder.write(picture, to: "picture.webp")
        // Beside the program, so that one that fails before its job exists is not waited for.
        let working = Task {
            try await ArticleExamples.untilEnqueued(try Client(store: bench.path))
            let worker = try await bench.register()
            try await bench.work(worker) { _ in Workbench.picture(2) }
        }
        let result = try await run(try Self.executable(), [bench.path, file])
        working.cancel()
        let lines = result.outputText.split(separator: "\n")
        #expect(result.exitStatus == 0, "\(result.errorText)")
        try #require(lines.count == 3)
        #expect(lines[0].hasSuffix("image/webp same bytes"))
        #expect(lines[2] == "4000 bytes as stored")
    }

    /// FoundationNetworking brings libcurl of its own accord; Cameo itself asks for neither, except for the engine for
    /// fleets.
    @Test func theLibraryLinksNeitherImagingNorTransfersItself() async throws {
        let result = try await run("readelf", ["-d", try Self.executable()])
        #expect(result.exitStatus == 0, "\(result.errorText)")
        #expect(result.outputText.contains("libFoundationNetworking"))
        #expect(result.outputText.contains("libsqlite3"))
        #expect(!result.outputText.contains("libvips"))
        let isForFleets = ProcessInfo.processInfo.environment["CAMEO_FLEET"] == "1"
        #expect(result.outputText.contains("libcurl") == isForFleets)
        #expect(result.outputText.contains("libpq") == isForFleets)
        let all = try await run("ldd", [try Self.executable()])
        #expect(all.exitStatus == 0 && !all.outputText.contains("libvips"))
    }

    /// Beside this process's own.
    private static func executable() throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: own).deletingLastPathComponent().appending(path: "cameo-example").path
    }
}
