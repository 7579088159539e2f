import Foundation
import Testing

@testable import CameoModel

/// Which span of a video each tile of a storyboard stands for, and how players are told.
@Suite(.timeLimit(.minutes(10)))
struct StoryboardTests {
    @Test(
        arguments: [
            (3, 2, nil, 6.0, [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000]),
            (3, 1, nil, 1.0, [0, 333, 666, 1_000]), (2, 2, 2.5, 6.0, [0, 2_500, 5_000, 6_000]),
            (2, 2, 2.5, 100.0, [0, 25_000, 50_000, 75_000, 100_000]), (2, 1, 3.0, 6.0, [0, 3_000, 6_000]),
            (5, 5, 60.0, 0.04, [0, 40]), (10, 10, nil, 0.003, [0, 1, 2, 3]), (4, 4, nil, 0.0, [0, 1]),
        ] as [(Int, Int, Double?, Double, [Int])]
    )
    func spansCoverTheWholeVideo(columns: Int, rows: Int, interval: Double?, duration: Double, edges: [Int]) {
        let storyboard = Rendition.Storyboard(columns: columns, rows: rows, interval: interval)
        #expect(storyboard.spans(of: duration) == zip(edges, edges.dropFirst()).map { $0..<$1 })
    }

    @Test func noSpanIsEmpty() {
        for milliseconds in [1, 2, 99, 100, 101, 1_234, 7_200_000] {
            for interval in [nil, 0.1, 1, 10] as [Double?] {
                let storyboard = Rendition.Storyboard(columns: 10, rows: 10, interval: interval)
                let spans = storyboard.spans(of: Double(milliseconds) / 1_000)
                #expect(spans.allSatisfy { !$0.isEmpty } && spans.count <= 100)
                #expect(spans.first?.lowerBound == 0 && spans.last?.upperBound == milliseconds)
            }
        }
    }

    private static func thumbnail(_ storyboard: Rendition.Storyboard?, duration: Double?) throws -> Thumbnail {
        let digest = BlobDigest(of: Data())
        let video = VideoFacts(duration: duration, time: nil, codec: .h264, rotation: 0, hasAudio: false)
        return Thumbnail(
            id: try #require(ThumbnailID(String(repeating: "a", count: 32))),
            blob: digest,
            encoded: EncodedRendition(
                width: 320,
                height: 180,
                format: .jpeg,
                hasAlpha: false,
                frames: 1,
                placeholder: Placeholder(thumbHash: "AAAA", blurHash: "000000", dominantColor: .white)
            ),
            source: PictureFacts(format: .video, width: 9, height: 9, pages: 1, hasAlpha: false, video: video),
            sourceDigest: digest,
            updatedAt: Date(),
            storyboard: storyboard
        )
    }

    @Test func theTrackTellsWhereEachTileIs() throws {
        let storyboard = Rendition.Storyboard(columns: 2, rows: 5, interval: 3_000.5)
        let thumbnail = try Self.thumbnail(storyboard, duration: 9_000)
        #expect(
            thumbnail.webVTT(sheet: "https://cdn.example/a.jpg") == """
                WEBVTT

                00:00:00.000 --> 00:50:00.500
                https://cdn.example/a.jpg#xywh=0,0,160,90

                00:50:00.500 --> 01:40:01.000
                https://cdn.example/a.jpg#xywh=160,0,160,90

                01:40:01.000 --> 02:30:00.000
                https://cdn.example/a.jpg#xywh=0,90,160,90

                """
        )
        #expect(try Self.thumbnail(nil, duration: 9).webVTT(sheet: "") == nil)
        #expect(try Self.thumbnail(storyboard, duration: nil).webVTT(sheet: "") == nil)
    }
}
