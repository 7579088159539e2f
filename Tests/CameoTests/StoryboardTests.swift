import Cameo
import Foundation
import Testing

/// What a Swift program hands to its player beside a storyboard.
@Suite(.timeLimit(.minutes(10)))
struct StoryboardTests {
    @Test func theTrackOfAStoryboardIsComputed() async throws {
        let bench = try Workbench()
        let client = try Client(store: bench.path)
        var rendition = Rendition(width: 32)
        rendition.storyboard = Rendition.Storyboard(columns: 2, rows: 1)
        let request = ThumbnailRequest(source: "https://videos.example/a.mp4", renditions: [rendition])
        let uri = try await client.enqueue(request).thumbnails[0].uri
        await #expect(throws: CameoURLError.noDataAvailable(uri.description)) {
            try await client.webVTT(for: uri, sheet: "a.webp")
        }
        try await bench.work(try await bench.register()) { _ in Workbench.picture(1) }
        #expect(try await client.webVTT(for: uri, sheet: "a.webp") == nil, "its source is a picture")
        let facts = #"{"duration":4,"codec":"vp9","rotation":0,"hasAudio":true}"#
        try await bench.sql("UPDATE thumbnail SET source_video = '\(facts)';")
        let track = try #require(try await client.webVTT(for: uri, sheet: "a.webp"))
        #expect(track.contains("00:00:00.000 --> 00:00:02.000\na.webp#xywh=0,0,"), "\(track)")
    }
}
