import CameoReport
import CameoStore
import Foundation
import TestSupport
import Testing

/// Where a report may be written, and where not.
@Suite(.timeLimit(.minutes(10)))
struct ReportFileTests {
    private let bench: ReportBench
    private let report = Data("report".utf8)

    init() async throws {
        bench = try await ReportBench()
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func anEarlierReportIsReplacedAndKeepsItsMode() throws {
        let path = try bench.folder.write(Data("a longer report of yesterday".utf8), to: "sheet.html")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        try ReportFile.write(report, to: path, store: bench.store)
        #expect(try text(path) == "report")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o640)
    }

    @Test func linksAndFoldersAreRefused() throws {
        let victim = try bench.folder.write(Data("victim".utf8), to: "victim")
        let link = bench.folder.path("link.html")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
        let dangling = bench.folder.path("dangling.html")
        let missing = bench.folder.path("missing")
        try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: missing)
        for path in [link, dangling, bench.folder.path] {
            let error = #expect(throws: ExportError.self) { try ReportFile.write(report, to: path, store: bench.store) }
            #expect(error?.description == "cannot write \(path): it exists and is not a regular file")
        }
        #expect(try text(victim) == "victim" && !FileManager.default.fileExists(atPath: missing))
    }

    @Test(arguments: ["cameo.sqlite", "blobs/sheet.html", "workers/w1.lock", "new.json"])
    func filesOfTheStoreAreRefused(name: String) throws {
        let path = "\(bench.store.location)/\(name)"
        let error = #expect(throws: ExportError.self) { try ReportFile.write(report, to: path, store: bench.store) }
        #expect(error?.description.hasSuffix("it belongs to the store") == true)
    }

    @Test func aPageAtTheTopOfTheStoreIsAllowed() throws {
        let path = "\(bench.store.location)/sheet.html"
        try ReportFile.write(report, to: path, store: bench.store)
        #expect(try text(path) == "report")
    }
}
