import Foundation
import Testing

@testable import CameoObjectStorage

struct AnswerParserTests {
    @Test func elementsTextAndReferencesAreRead() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <Result xmlns="http://s3.amazonaws.com/doc/2006-03-01/" a='1'>
                <Key>a&amp;b&lt;&#228;&#x1F600;&quot;</Key><Empty/><None></None >
                <Owner><ID>1</ID></Owner><Owner><ID>2</ID></Owner>
            </Result>

            """
        let root = try #require(AnswerParser.root(of: Data(text.utf8)))
        #expect(root.name == "Result")
        #expect(root["Key"] == "a&b<ä😀\"")
        #expect(root["Empty"] == "" && root["None"] == "" && root["Other"] == nil)
        #expect(root.children("Owner").compactMap { $0["ID"] } == ["1", "2"])
    }

    @Test(arguments: [
        "", "text", "<a>", "<a></b>", "<a/><b/>", "<a></a>x", "<a b></a>", "<a b=c/>", "<a b=\"<\"/>", "<1/>", "< a/>",
        "<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "<a>&x;</a>", "<a>&amp</a>", "<a>& </a>",
        "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#x110000;</a>", "<a><![CDATA[x]]></a>", "<a><!-- x --></a>",
        "<a><?x?></a>",
        "<?xml version='1.0'", "\u{FEFF}<a/>",
    ])
    func everythingElseIsRefused(text: String) {
        #expect(AnswerParser.root(of: Data(text.utf8)) == nil)
    }

    @Test func depthAndEncodingAreLimited() {
        let deep = { (count: Int) in String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count) }
        #expect(AnswerParser.root(of: Data(deep(16).utf8)) != nil)
        #expect(AnswerParser.root(of: Data(deep(17).utf8)) == nil)
        #expect(AnswerParser.root(of: Data(deep(1_000_000).utf8)) == nil)
        #expect(AnswerParser.root(of: Data("<a>".utf8) + [0xFF] + Data("</a>".utf8)) == nil)
    }

    /// Whatever bytes come, the parser ends and does not trap.
    @Test func damagedAnswersAreRefusedOrRead() {
        let whole = Array("<?xml version='1.0'?><R x='y'><K>a&amp;b</K><E/><O><I>1</I></O></R>".utf8)
        for length in whole.indices { #expect(AnswerParser.root(of: Data(whole[..<length])) == nil) }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = AnswerParser.root(of: Data(bytes))
        }
    }

    @Test func anErrorShowsItsCodeAndMessageAndNothingElse() {
        let text = """
            <Error><Code>SignatureDoesNotMatch</Code><Message>No\u{1B}[31m match\nhere</Message>\
            <AWSAccessKeyId>key</AWSAccessKeyId><StringToSign>string</StringToSign></Error>
            """
        let error = ServerError(Data(text.utf8))
        #expect(error.text(status: 403) == "the server answered 403 (SignatureDoesNotMatch: No[31m matchhere)")
        #expect(ServerError(Data("<html>".utf8)).text(status: 502) == "the server answered 502")
        let long = ServerError(Data("<Error><Message>\(String(repeating: "x", count: 9_000))</Message></Error>".utf8))
        #expect(long.message.count == 200)
    }
}
