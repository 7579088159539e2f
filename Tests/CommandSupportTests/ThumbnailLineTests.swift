import CameoModel
import Foundation
import Testing

@testable import CommandSupport
@testable import cameo_enqueue
@testable import cameo_status

/// What is typed to name and select thumbnails.
@Suite(.timeLimit(.minutes(10)))
struct ThumbnailLineTests {
    private static let id = "0123456789abcdef0123456789abcdef"

    @Test(arguments: [
        id, "cameo://thumb/\(id)", "CAMEO://Thumb/\(id)", "https://host/thumb/\(id)",
        "https://host/a/thumb/\(id).json?job=1#x", "/thumb/\(id).webp",
    ])
    func aThumbnailHasManyNames(name: String) {
        #expect(ThumbnailArgument(argument: name)?.id.text == Self.id)
    }

    @Test(arguments: [
        "", "7", "https://host/blob/\(id)", "cameo://source/\(id)", "thumb", "thumb/", "/thumb/x\(id)", id.uppercased(),
    ])
    func whatIsNoThumbnailIsRefused(name: String) {
        #expect(ThumbnailArgument(argument: name) == nil)
    }

    @Test func everyOptionIsAPartOfTheFilter() async throws {
        let digest = String(repeating: "ab", count: 32)
        let line = "cameo-status thumbs --source https://a/ --label l --batch b --since 2030-01-31T12:00:00Z --digest"
        let command = try #require(try await TypedLine(line, [digest]).parsed() as? ThumbsCommand)
        var filter = ThumbnailFilter()
        (filter.sourcePrefix, filter.label, filter.batch) = ("https://a/", "l", "b")
        (filter.sourceDigest, filter.since) = (digest, WireFormat.date(from: "2030-01-31T12:00:00Z"))
        #expect(try command.selection.filter() == filter)
    }

    @Test func labelsBecomePartOfEveryRequest() async throws {
        let line = "cameo-enqueue --allow-missing --label user:42 --label avatars https://a/1 https://a/2"
        let command = try #require(try await TypedLine(line).parsed() as? CameoEnqueue)
        let made = try await command.requests().made(0..<2)
        #expect(made.map(\.labels) == [["user:42", "avatars"], ["user:42", "avatars"]])
    }
}
