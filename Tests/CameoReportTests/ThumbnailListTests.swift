import CameoModel
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoReport

/// Thumbnails on a terminal.
@Suite(.timeLimit(.minutes(10)))
struct ThumbnailListTests {
    @Test func theTableFitsEightyColumns() async throws {
        let bench = try await ReportBench()
        _ = try await bench.complete("https://shop.example/" + String(repeating: "shoes/", count: 30) + "red.jpg")
        _ = try await bench.complete("file:///a.jpg")
        let facts = try await bench.facts()
        let lines = ThumbnailList.lines(facts, at: bench.clock.now, columns: 80, escape: masked)
        #expect(lines.count == 3 && lines.allSatisfy { $0.columns <= 80 }, "\(lines)")
        #expect(lines[0].hasPrefix("THUMBNAIL ") && lines[1].hasSuffix("  /a.jpg"), "\(lines)")
        #expect(lines[2].hasSuffix("red.jpg"), "\(lines)")
    }

    @Test func everythingThatIsKnownHasALine() async throws {
        let bench = try await ReportBench()
        let job = try await bench.complete("https://user:secret@shop.example/a.jpg", labels: ["user:42", "album:7"])
        let facts = try #require(try await bench.facts().first)
        let lines = ThumbnailList.lines(facts, escape: masked)
        #expect(lines[0] == job.thumbnails[0].uri.text)
        for line in [
            "  source      https://shop.example/a.jpg", "  digest      \(facts.sourceDigest)",
            "  rendition   64x: width 64", "  thumbnail   64x48 webp, alpha, 9 B",
            "  colour      #a1b2c3", "  taken       unknown", "  camera      unknown",
            "  labels      album:7, user:42",
        ] { #expect(lines.contains(line), "\(lines)") }
        #expect(lines.contains { $0.hasPrefix("  made ") && $0.hasSuffix("by job \(job.id)") }, "\(lines)")
    }

    @Test func noneIsMissedAtTheEdgeOfAPage() async throws {
        let bench = try await ReportBench()
        for number in 0..<201 {
            _ = try await bench.complete("file:///\(number).jpg", batch: number < 200 ? "b" : nil)
        }
        var batch = ThumbnailFilter()
        batch.batch = "b"
        for (filter, count) in [(ThumbnailFilter(), 201), (batch, 200)] {
            let uris = try await bench.facts(filter).map(\.thumbnail.uri)
            #expect(uris.count == count && Set(uris).count == count)
        }
    }
}
