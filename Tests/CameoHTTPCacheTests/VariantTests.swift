import CameoHTTPCache
import CameoModel
import Foundation
import Testing

@Suite("RFC 9111, section 4.1: which requests an answer is for", .timeLimit(.minutes(10)))
struct VariantTests {
    private func matches(_ vary: [String], _ first: [String], _ second: [String]) throws -> Bool {
        let answer = fields(vary.map { "Vary: \($0)" })
        let variant = try #require(Variant(of: [answer], for: fields(first)))
        let read = try #require(Variant(text: variant.text))
        #expect(read == variant)
        #expect(variant.matches(fields(first)))
        #expect(read.matches(fields(second)) == variant.matches(fields(second)))
        return variant.matches(fields(second))
    }

    private func digest(_ text: String) -> String { BlobDigest(of: Data(text.utf8)).hex }

    private static let pairs: [([String], [String], [String], Bool)] = [
        // Vary, the request that was answered, another one, whether that matches
        ([], ["Accept: a"], ["Accept: b"], true), ([""], ["Accept: a"], ["Accept: b"], true),
        (["Accept"], ["Accept: a"], ["accept: a"], true), (["Accept"], ["Accept: a"], ["Accept: b"], false),
        (["accept"], ["Accept: a"], ["Accept: A"], false), (["Accept"], ["X: 1"], ["X: 2"], true),
        (["Accept"], [], [], true), (["Accept"], [], ["Accept: a"], false), (["Accept"], ["Accept: a"], [], false),
        (["Accept"], [], ["Accept:"], false),
        (["Accept"], ["Accept: a, b"], ["Accept: a,b"], true),
        (["Accept"], ["Accept: a, b"], ["Accept: a", "Accept: b"], true),
        (["Accept"], ["Accept: a ,, b"], ["Accept: a,b,"], true),
        (["Accept"], ["Accept: a,b"], ["Accept: b,a"], false),
        (["Accept"], ["Accept: \ta "], ["Accept: a"], true), (["Accept"], ["Accept: a b"], ["Accept: ab"], false),
        (["Accept"], ["Accept: x=\"a, b\""], ["Accept: x=\"a,b\""], false),
        (["Accept, Origin"], ["Accept: a", "Origin: b"], ["Origin: b", "Accept: a"], true),
        (["Accept", "Origin"], ["Accept: a", "Origin: b"], ["Accept: a"], false),
        (["Accept, Origin"], ["Accept: a"], ["Origin: a"], false),
        ([" ,Accept,, accept ,"], ["Accept: a"], ["Accept: a"], true),
    ]

    @Test(arguments: pairs)
    func theFieldsThatVaryMustAgree(vary: [String], first: [String], second: [String], isMatch: Bool) throws {
        #expect(try matches(vary, first, second) == isMatch)
    }

    @Test(arguments: [["*"], ["Accept, *"], ["Accept", " * "], ["Accept Origin"], ["a:b"], ["\u{e9}"]])
    func aStarOrWhatIsNoNameMatchesNothing(vary: [String]) {
        #expect(Variant(of: [fields(vary.map { "Vary: \($0)" })], for: plain) == nil)
    }

    @Test func moreNamesThanAnybodyMeansMatchNothing() {
        func variant(_ count: Int) -> Variant? {
            let names = (0..<count).map { "x\($0)" }.joined(separator: ",")
            return Variant(of: [fields(["Vary: \(names)"])], for: plain)
        }
        #expect(variant(64) != nil)
        #expect(variant(65) == nil)
        #expect(variant(100_000) == nil)
    }

    @Test func theTextIsTheSameHoweverTheNamesCome() throws {
        let request = fields(["Accept: image/avif , image/webp", "Cookie: secret"])
        let texts = [["Vary: Cookie, Accept"], ["vary: ACCEPT", "Vary: cookie", "Vary: accept"]].map {
            Variant(of: [fields($0)], for: request)?.text
        }
        let text = "accept,cookie:\(digest("accept:image/avif,image/webp\ncookie:secret"))"
        #expect(texts == [text, text])
        #expect(Variant(of: [plain], for: request)?.text == "")
        #expect(
            Variant(of: [fields(["Vary: Accept, Origin"])], for: request)?.text
                == "accept,origin:\(digest("accept:image/avif,image/webp\norigin"))"
        )
    }

    @Test func aChainVariesOnAllThatItsMembersVaryOn() {
        let chain = [fields(["Vary: Cookie"]), plain, fields(["Vary: Accept, Cookie"])]
        #expect(Variant(of: chain, for: plain)?.text.hasPrefix("accept,cookie:") == true)
        #expect(Variant(of: chain + [fields(["Vary: *"])], for: plain) == nil)
    }

    @Test(arguments: ["accept", ":", ":d", "a b:d", ",a:d", "a,:d", "*,\u{301}:d"])
    func aTextThatIsNoVariantIsRefused(text: String) {
        #expect(Variant(text: text) == nil)
    }
}
