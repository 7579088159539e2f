import CameoModel
import Foundation
import Testing

@testable import CameoReport

/// The HTML page of thumbnails.
@Suite(.timeLimit(.minutes(10)))
struct ContactSheetTests {
    private func html(_ jobs: [Job], _ bench: ReportBench, title: String = "pictures") async throws -> String {
        var sheet = ContactSheet(store: bench.store)
        for job in jobs { await sheet.add(job) }
        return String(decoding: sheet.html(title: title), as: UTF8.self)
    }

    @Test func aSheetOfNothingIsAPage() async throws {
        let html = try await html([], ReportBench())
        #expect(html.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        #expect(html.contains("<title>pictures</title>") && html.contains("<h1>pictures</h1>"))
        #expect(html.contains("<p>0 sources, 0 thumbnails, 0 B</p>"))
        #expect(!html.contains("<section>") && html.hasSuffix("</html>\n"))
    }

    @Test func everyThumbnailIsInsideThePage() async throws {
        let bench = try await ReportBench()
        let jobs = [
            try await bench.complete("file:///pictures/a.jpg", bytes: "one"),
            try await bench.complete("https://user:secret@example.com/b.jpg", bytes: "three"),
        ]
        let html = try await html(jobs, bench)
        #expect(html.contains("<p>2 jobs, 2 thumbnails, 8 B</p>"))
        for bytes in ["one", "three"] {
            #expect(html.contains("<img src=\"data:image/webp;base64,\(Data(bytes.utf8).base64EncodedString())\""))
        }
        #expect(html.contains("<h2 title=\"file:///pictures/a.jpg\">a.jpg · 640x480 GIF, alpha, 3 frames</h2>"))
        #expect(html.contains(">https://example.com/b.jpg · ") && !html.contains("secret"))
        #expect(html.contains("64x · 64x48 webp, alpha, 3 B, #a1b2c3<br><small>width 64</small>"))
        #expect(!html.contains("class=\"failure\"") && !html.contains("background:#a1b2c3"))
        #expect(html.contains("content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\""))
    }

    @Test func thumbnailsOfOneSourceShareATileWithoutTheirJobs() async throws {
        let bench = try await ReportBench()
        for source in ["https://user:secret@example.com/b.jpg", "file:///pictures/a.jpg"] {
            for width in [64, 32] {
                let rendition = Rendition(width: width)
                _ = try await bench.complete(source, bytes: "\(width)", labels: ["l"], rendition: rendition)
            }
        }
        var filter = ThumbnailFilter()
        filter.label = "l"
        var sheet = ContactSheet(store: bench.store)
        for facts in try await bench.facts(filter) { await sheet.add(facts) }
        let html = String(decoding: sheet.html(title: "l"), as: UTF8.self)
        #expect(html.contains("<p>2 sources, 4 thumbnails, 8 B</p>"))
        #expect(html.components(separatedBy: "<section>").count == 3)
        #expect(html.contains("title=\"file:///pictures/a.jpg\">a.jpg · 640x480 GIF") && !html.contains("secret"))
        #expect(html.contains("32x · ") && html.contains("<small>width 32</small>"))
    }

    @Test func anOpaqueThumbnailShowsItsColourUntilItIsLoaded() async throws {
        let bench = try await ReportBench()
        let job = try await bench.complete("file:///a.jpg")
        guard case .thumbnail(let id) = job.thumbnails[0].uri else {
            Issue.record("\(job.thumbnails[0].uri)")
            return
        }
        let opaque = Job.example(thumbnails: [try .example(id: id, hasAlpha: false)])
        #expect(try await html([opaque], bench).contains("style=\"height:auto;background:#a1b2c3ff\""))
    }

    /// A job without thumbnails says why, or where it stands.
    @Test func aJobThatDidNotCompleteHasItsReason() async throws {
        let failure = JobFailure(.sourceNotFound, at: .fetch, "HTTP 404")
        let jobs = [
            Job.example(state: .discarded, failure: failure), .example(state: .running),
            .example(state: .cancelled, source: nil),
        ]
        let html = try await html(jobs, ReportBench())
        #expect(html.contains("<p class=\"failure\">source.notFound: HTTP 404</p>"))
        #expect(html.contains("<p class=\"failure\">running</p>"))
        #expect(html.contains(">job 7</h2><p class=\"failure\">cancelled</p>"))
        #expect(html.contains("<p>3 jobs, 0 thumbnails, 0 B</p>"))
    }

    @Test func aThumbnailThatCannotBeReadHasATileThatSaysSo() async throws {
        let bench = try await ReportBench()
        var sheet = ContactSheet(store: bench.store)
        await sheet.add(.example(thumbnails: [try .example()]))
        await sheet.add(try await bench.complete("file:///a.jpg", bytes: "one"))
        let html = String(decoding: sheet.html(title: "a"), as: UTF8.self)
        #expect(html.contains("<p>2 jobs, 1 thumbnail, 3 B, 1 that cannot be read</p>"))
        #expect(html.contains("<figure class=\"unreadable\">"))
        try #require(sheet.unreadable.map(\.origin) == ["job 7"])
        #expect(
            sheet.unreadable[0].description.hasPrefix("64x of job 7 (cameo://thumb/0123456789abcdef0123456789abcdef)")
        )
    }

    /// Names of thumbnails, sources, messages and the title come from outside.
    @Test func textFromOutsideIsEscaped() async throws {
        let job = Job.example(
            state: .discarded,
            source: hostile,
            failure: JobFailure(.sourceInvalid, at: .fetch, hostile),
            thumbnails: [try .example(hostile)]
        )
        let html = try await html([job], ReportBench(), title: hostile)
        #expect(!html.contains("<script") && !html.contains("alert('x')"))
        #expect(html.contains("<title>\u{1B}[31m&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;../"))
        #expect(html.contains("<p class=\"failure\">source.invalid: \u{1B}[31m&quot;&gt;&lt;script&gt;"))
        #expect(html.contains("<figcaption>\u{1B}[31m&quot;&gt;&lt;script&gt;"))
    }
}

/// The options of a rendition, in words.
@Suite(.timeLimit(.minutes(10)))
struct RenditionTextTests {
    @Test func onlyWhatDiffersFromTheDefaultIsNamedTheBoxFirst() {
        var rendition = Rendition(width: 64, height: 32, fit: .cover, format: .png)
        rendition.name = "any"
        #expect(RenditionText.options(of: rendition) == "width 64, height 32, fit cover, format png")
        #expect(RenditionText.options(of: Rendition(width: 64)) == "width 64")
    }

    @Test func longValuesAreTruncated() {
        var rendition = Rendition(width: 64)
        let source = "data:image/png;base64," + String(repeating: "A", count: 500)
        rendition.look.overlay = Rendition.Overlay(source: source)
        let text = RenditionText.options(of: rendition)
        #expect(text.hasPrefix("width 64, overlay "))
        #expect(text.hasSuffix("…") && text.count < 90, "\(text)")
    }
}
