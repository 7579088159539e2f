import CameoModel
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CameoURITests {
    static let id = "0123456789abcdef0123456789abcdef"
    static let digest = String(repeating: "0123456789abcdef", count: 4)

    @Test(arguments: ["cameo://thumb/\(id)", "cameo://blob/sha256-\(digest)", "cameo://source/file%3A%2F%2F%2Fa%20b"])
    func textIsReadAndWrittenUnchanged(text: String) throws {
        #expect(try #require(CameoURI(text)).text == text)
    }

    @Test(
        arguments: [
            "https://pictures.example/a b?c=d&e=%20#f", "file:///srv/Käse \u{1F9C0}/100%.jpg", "data:,%00", "a", "/",
            "%",
            "cameo://source/x", "~-._", "\u{7F}\n", "ä", "a\u{308}",
        ]
    )
    func everySourceSurvives(source: String) throws {
        let text = CameoURI.source(source).text
        #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        guard case .source(let read) = try #require(CameoURI(text)) else { throw WrongKind() }
        #expect(Array(read.utf8) == Array(source.utf8))
        #expect(!text.dropFirst("cameo://source/".count).contains("/"))
    }

    @Test func schemeAndKindIgnoreCase() {
        #expect(CameoURI("CAMEO://Thumb/\(Self.id)") == CameoURI("cameo://thumb/\(Self.id)"))
        #expect(CameoURI("Cameo://BLOB/sha256-\(Self.digest)")?.text == "cameo://blob/sha256-\(Self.digest)")
        #expect(CameoURI("cameo://SOURCE/a:b%2fc")?.text == "cameo://source/a%3Ab%2Fc")
    }

    @Test(
        arguments: [
            "", "cameo:", "cameo://", "cameo:///", "cameo://thumb", "cameo://thumb/", "cameo://thumb/\(id)/",
            "cameo://thumb/\(id)?x", "cameo://thumb/\(id.uppercased())", "cameo://thumb/\(id.dropLast())",
            "cameo://thumb/\(id)0", " cameo://thumb/\(id)", "cameo:thumb/\(id)", "cameos://thumb/\(id)",
            "cameo://thumbs/\(id)", "cameo://blob/\(digest)", "cameo://blob/sha256-\(digest.dropLast())",
            "cameo://blob/SHA256-\(digest)", "cameo://blob/md5-\(id)", "cameo://source/", "cameo://source/%",
            "cameo://source/%f", "cameo://source/%ff", "https://thumb/\(id)",
        ]
    )
    func otherTextsAreNotCameoURIs(text: String) { #expect(CameoURI(text) == nil) }

    private struct WrongKind: Error {}
}
