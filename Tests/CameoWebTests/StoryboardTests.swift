import CameoModel
import Foundation
import Testing

/// What players read beside a storyboard's sheet.
@Suite(.timeLimit(.minutes(10)))
struct StoryboardTests {
    @Test func aStoryboardHasATrackThatNamesItsSheet() async throws {
        let bench = try await WebBench()
        var rendition = Rendition(width: 32)
        rendition.storyboard = Rendition.Storyboard(columns: 2, rows: 2)
        let receipt = try await bench.enqueue(rendition)
        guard case .thumbnail(let id) = receipt.thumbnails[0].uri else { throw CancellationError() }
        #expect(try await bench.get("/thumb/\(id).vtt").status == 404)
        try await bench.work(try await bench.register(), with: WebBench.picture())
        #expect(try await bench.get("/thumb/\(id).vtt").status == 404, "its source is a picture")
        let facts = #"{"duration":10,"codec":"h264","rotation":0,"hasAudio":false}"#
        try await bench.sql("UPDATE thumbnail SET source_video = '\(facts)';")
        let answer = try await bench.get("/thumb/\(id).vtt")
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "text/vtt; charset=utf-8")
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.hasPrefix("WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n\(id).webp#xywh=0,0,32,24\n\n"), "\(text)")
        #expect(text.hasSuffix("00:00:07.500 --> 00:00:10.000\n\(id).webp#xywh=32,24,32,24\n"), "\(text)")
        #expect(try await bench.get("/thumb/\(id).vtt", ["If-None-Match": answer["ETag"] ?? ""]).status == 304)
        #expect(try await bench.get("/thumb/\(id).webp").status == 200)
        #expect(try await bench.get("/thumb/xyz.vtt").status == 404)
    }
}
