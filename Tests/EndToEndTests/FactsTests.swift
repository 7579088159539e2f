import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The facts of a thumbnail, by every way to query them.
    @Suite(.timeLimit(.minutes(10)))
    struct FactsTests {
        @Test func factsOfThreeRenditionsAreTheSameByEveryWay() async throws {
            let deployment = try Deployment()
            let photo = try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            try deployment.add(try await Pictures.disc("png"), as: "mark.png")
            let request = """
                {"source":"file://\(photo)","renditions":[
                  {"name":"small","width":64},
                  {"name":"round","width":50,"height":50,"fit":"cover","cornerRadius":"circle","format":"png"},
                  {"name":"marked","width":90,"format":"jpeg",
                   "overlay":{"source":"file://\(deployment.pictures)/mark.png","scale":0.4}}]}
                """
            let receipt = try #require(try await deployment.enqueue("--request -", input: Data(request.utf8)).first)
            #expect(receipt.thumbnails.allSatisfy { $0.source == nil && $0.thumbHash == nil })
            try await deployment.drain().succeeded()

            let job = try await deployment.job(receipt.jobID)
            #expect(job.thumbnails.map(\.format) == ["webp", "png", "jpeg"])
            #expect(job.thumbnails.map(\.hasAlpha) == [false, true, false])
            let width = try await Pictures.tool("vipsheader", ["-f", "width", photo])
            let height = try await Pictures.tool("vipsheader", ["-f", "height", photo])
            for thumbnail in job.thumbnails {
                let source = try #require(thumbnail.source)
                #expect("\(source.width) \(source.height)" == "\(width) \(height)")
                #expect((source.format, source.pages) == ("jpeg", 1))
                #expect(!source.hasAlpha && !source.isAnimated)
                #expect((thumbnail.frames, thumbnail.isAnimated, thumbnail.truncated) == (1, false, nil))
                let hash = thumbnail.thumbHash.flatMap { Data(base64Encoded: $0) }
                #expect((5...25).contains(hash?.count ?? 0), "\(thumbnail.thumbHash ?? "no ThumbHash")")
                #expect(thumbnail.blurHash?.count == 28)
                #expect(thumbnail.dominantColor?.wholeMatch(of: #/#[0-9a-f]{6}/#) != nil)
            }

            let view = try await deployment.sql("SELECT thumbnails FROM job_status WHERE id = \(receipt.jobID);")
            let selected = try JSONValue(parsing: view)
            let reported = try JSONValue(parsing: WireFormat.encode(job.thumbnails))
            #expect(selected.withoutNulls == reported)

            let text = try await deployment.command("cameo-status job \(receipt.jobID)").outputText
            #expect(text.contains("  picture     \(width)x\(height) JPEG\n"), "\(text)")
            #expect(text.contains("50x50 png, alpha, "), "\(text)")
            let color = try #require(job.thumbnails[0].dominantColor)
            #expect(text.contains("B, \(color)\n"), "\(text)")

            #expect(try await deployment.command("cameo-status sheet sheet.html").exitStatus == 0)
            let html = try String(contentsOfFile: deployment.folder.path("sheet.html"), encoding: .utf8)
            #expect(html.contains("width 50, height 50, fit cover, cornerRadius circle, format png"))
            #expect(html.contains("background:\(color)ff"))
        }

        @Test func animationAndCutOffSourceAreMarked() async throws {
            let deployment = try Deployment()
            let moving = try deployment.add(try await Pictures.timedAnimation("gif"), as: "moving.gif")
            let cut = try deployment.add(try await Pictures.truncated("jpg", share: 0.6), as: "cut.jpg")
            let moves =
                #"{"source":"file://\#(moving)","renditions":[{"width":40,"animated":true},{"name":"still","width":40}]}"#
            let still = #"{"source":"file://\#(cut)","renditions":[{"width":40}]}"#
            let first = try #require(try await deployment.enqueue("--request -", input: Data(moves.utf8)).first)
            let second = try #require(try await deployment.enqueue("--request -", input: Data(still.utf8)).first)
            try await deployment.drain("--tolerate truncated").succeeded()
            let animated = try await deployment.job(first.jobID).thumbnails
            #expect(animated.map(\.frames) == [3, 1])
            #expect(animated.map(\.isAnimated) == [true, false])
            #expect(animated.allSatisfy { $0.source?.isAnimated == true && $0.source?.pages == 3 })
            #expect(animated.allSatisfy { $0.truncated == nil })
            let tolerated = try await deployment.job(second.jobID).thumbnails
            #expect(tolerated.map(\.truncated) == [true])
            let text = try await deployment.command("cameo-status job \(second.jobID)").outputText
            #expect(text.contains(" JPEG, truncated\n"), "\(text)")
        }
    }
}

extension JSONValue {
    /// Objects without their null members, as messages have them.
    fileprivate var withoutNulls: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutNulls))
        case .object(let members): .object(members.filter { $0.value != .null }.mapValues(\.withoutNulls))
        default: self
        }
    }
}
