import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoReport

/// Thumbnails as files, with the manifest beside them.
@Suite(.timeLimit(.minutes(10)))
struct ExportTests {
    private struct Entry: Codable, Equatable {
        let file: String
        let source: String?
        let uri: String
    }

    private let bench: ReportBench
    private let out: String

    init() async throws {
        bench = try await ReportBench()
        out = bench.folder.path("out")
    }

    private func export(_ jobs: [Job]) async throws -> Export {
        var export = try Export(to: out, from: bench.store)
        for job in jobs {
            for thumbnail in job.thumbnails { try await export.write(thumbnail, of: job) }
        }
        try export.finish()
        return export
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: out).sorted() }
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(out)/\(name)", encoding: .utf8)
    }

    private func manifest() throws -> [Entry] {
        try JSONDecoder().decode([Entry].self, from: Data(try text("manifest.json").utf8))
    }

    @Test(
        arguments: [
            (nil, "picture"), ("file:///a/My%20photo.jpg", "My_photo"), ("file:///a/b.c.jpg", "b_c"),
            ("https://example.com/a.jpg?size=../../etc/passwd#x", "a"), ("https://example.com/", "example"),
            ("../../etc/passwd", "passwd"), ("file:///a/..", "_"), ("file:///%2Fetc%2Fpasswd", "_etc_passwd"),
            ("file:///a%00b.jpg", "a_b"), ("file:///a/.hidden", "picture"), ("file:///été-1.jpg", "été-1"),
            ("data:image/png;base64,AAAA", "picture"), ("", "picture"), ("file:///a;rm -rf $HOME", "a_rm_-rf__HOME"),
        ] as [(String?, String)]
    )
    func namesOfFilesAreSafeWhateverTheSourceIs(source: String?, stem: String) {
        #expect(ExportPlace.stem(of: source) == stem)
    }

    @Test func longNamesAreTruncatedBetweenCharacters() {
        #expect(ExportPlace.stem(of: "file:///" + String(repeating: "é", count: 300)).utf8.count == 120)
        #expect(ExportPlace.stem(of: "file:///a" + String(repeating: "é", count: 300)).utf8.count == 119)
    }

    @Test func anExportOfNothingHasAnEmptyManifest() async throws {
        let export = try await export([])
        #expect((export.written, export.kept) == (0, 0))
        #expect(try files == ["manifest.json"] && text("manifest.json") == "[\n]\n")
    }

    @Test func filesHaveTheBytesAndTheManifestSaysWhichIsWhich() async throws {
        let jobs = [
            try await bench.complete("file:///one/a.jpg", bytes: "one"),
            try await bench.complete("https://user:secret@example.com/a.jpg", bytes: "two"),
            try await bench.enqueue("file:///waiting.jpg"),
        ]
        let export = try await export(jobs)
        #expect((export.written, export.kept, export.skipped, export.unreadable.count) == (2, 0, [], 0))
        #expect(try files == ["a-\(jobs[1].id).64x.webp", "a.64x.webp", "manifest.json"])
        #expect(try text("a.64x.webp") == "one" && text("a-\(jobs[1].id).64x.webp") == "two")
        let uris = jobs.map { $0.thumbnails[0].uri.text }
        #expect(
            try manifest() == [
                Entry(file: "a-\(jobs[1].id).64x.webp", source: "https://example.com/a.jpg", uri: uris[1]),
                Entry(file: "a.64x.webp", source: "file:///one/a.jpg", uri: uris[0]),
            ]
        )
    }

    @Test func aLaterExportKeepsWhatIsThere() async throws {
        let job = try await bench.complete("file:///a.jpg")
        _ = try await export([job])
        let other = try await bench.complete("file:///b.jpg")
        let again = try await export([job, other])
        #expect((again.written, again.kept) == (1, 1))
        #expect(try manifest().map(\.file) == ["a.64x.webp", "b.64x.webp"])
    }

    @Test func whatHasTheNameStaysAndLinksAreNotFollowed() async throws {
        let job = try await bench.complete("file:///a.jpg")
        let victim = try bench.folder.write(Data("victim".utf8), to: "victim")
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: "\(out)/a.64x.webp", withDestinationPath: victim)
        let numbered = "a-\(job.id).64x.webp"
        #expect(try await export([job]).written == 1)
        #expect(try text(numbered) == "thumbnail")
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "victim")

        try Data("somebody else's".utf8).write(to: URL(filePath: "\(out)/\(numbered)"))
        let again = try await export([job])
        #expect(again.skipped == [numbered] && again.written == 0)
        #expect(try text(numbered) == "somebody else's")
    }

    @Test func aThumbnailThatCannotBeReadIsNamedAndTheRestIsWritten() async throws {
        let jobs = [
            Job.example(thumbnails: [try .example()]), try await bench.complete("file:///a.jpg"),
        ]
        let export = try await export(jobs)
        #expect((export.written, export.unreadable.map(\.origin)) == (1, ["job 7"]))
    }

    // MARK: - Thumbnails by themselves

    private func exportAll() async throws -> Export {
        var export = try Export(to: out, from: bench.store)
        try await bench.store.forEachThumbnail(ThumbnailFilter()) { try await export.write($0) }
        try export.finish()
        return export
    }

    @Test(
        arguments: [
            ("file:///a/b/c.jpg", ["a", "b"]), ("file:///c.jpg", []),
            ("https://Shop.example/shoes/red.jpg?w=1", ["Shop.example", "shoes"]),
            ("http://…@host:8080/@me/a.jpg", ["host_8080", "_me"]), ("https://host/", []), ("https://host", []),
            ("file:///../../etc/passwd", ["_..", "_..", "etc"]), ("file:///a/%2e%2e/%2F/b.jpg", ["a", "_..", "_"]),
            ("file:///a/./.hidden/b.jpg", ["a", "_.", "_.hidden"]), ("file:///a%00%1B%0A/b.jpg", ["a___"]),
            ("https://manifest.json/a.jpg", ["_manifest.json"]), ("data:image/png;base64,AA/AA", []),
            ("user:42/avatar", []), ("cameo://source/https%3A%2F%2Fa%2Fb", []), ("initials:AB", []),
        ] as [(String, [String])]
    )
    func foldersAreThoseOfTheSourceAndSafe(source: String, folders: [String]) {
        #expect(ExportPlace.folders(of: source) == folders)
    }

    @Test func foldersAreNoDeeperAndNamesNoLongerThanAFileSystemHasThem() {
        let path = String(repeating: "/a", count: 3_000) + "/" + String(repeating: "é", count: 300)
        let deep = ExportPlace.folders(of: "file://\(path)/b.jpg")
        #expect(deep.count == 32 && deep.last?.utf8.count == 120)
    }

    @Test func filesLieInTheTreeOfTheirSourcesWhateverBecameOfTheJobs() async throws {
        _ = try await bench.complete("file:///one/a.jpg", bytes: "one")
        _ = try await bench.complete("https://user:secret@example.com/two/a.jpg", bytes: "two")
        _ = try await bench.complete("https://example.com/two/a.png", bytes: "three")
        bench.clock.jump(days: 8)
        _ = try await bench.store.prune(Retention(), in: try #require(try await bench.store.maintenanceTurn()))
        #expect(try await bench.store.jobs(JobFilter()).isEmpty)
        let export = try await exportAll()
        #expect((export.written, export.skipped, export.unreadable.count) == (3, [], 0))
        let facts = try await bench.facts()
        // The sources are in the order of their bytes, so that the one without a password comes first.
        #expect(
            facts.map(\.source) == [
                "file:///one/a.jpg", "https://example.com/two/a.png", "https://…@example.com/two/a.jpg",
            ]
        )
        let second = "example.com/two/a-\(facts[2].thumbnail.uri.text.suffix(32).prefix(8)).64x.webp"
        let names = ["one/a.64x.webp", "example.com/two/a.64x.webp", second]
        #expect(try names.map(text) == ["one", "three", "two"])
        #expect(try manifest().map(\.file) == names.sorted())
        #expect(try !text("manifest.json").contains("secret"))
        let again = try await exportAll()
        #expect((again.written, again.kept) == (0, 3))
    }

    @Test func aFolderThatIsALinkOrAFileIsNotFollowed() async throws {
        _ = try await bench.complete("file:///link/a.jpg")
        _ = try await bench.complete("file:///plain/a.jpg")
        let elsewhere = bench.folder.path("elsewhere")
        for path in [out, elsewhere] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        try FileManager.default.createSymbolicLink(atPath: "\(out)/link", withDestinationPath: elsewhere)
        try bench.folder.write(Data("mine".utf8), to: "out/plain")
        let export = try await exportAll()
        #expect(export.written == 0 && export.skipped.count == 2 && export.skipped[0].hasPrefix("link/a-"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
        #expect(try text("plain") == "mine")
    }

    @Test func aManifestOfSomethingElseStays() async throws {
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: false)
        try bench.folder.write(Data(#"{"name":"a web app"}"#.utf8), to: "out/manifest.json")
        await #expect(throws: ExportError.self) { _ = try await export([]) }
        #expect(try text("manifest.json") == #"{"name":"a web app"}"#)
    }

    @Test(arguments: ["", "/", "/blobs", "/new"])
    func theStoreIsNoPlaceForAnExport(path: String) throws {
        let error = #expect(throws: ExportError.self) {
            _ = try Export(to: bench.store.location + path, from: bench.store)
        }
        #expect(error?.description.hasSuffix("it belongs to the store") == true)
    }
}
