import CameoModel
import Foundation
import TestSupport
import Testing

/// Checks that schema and Swift reader agree at the edge of every limit.
@Suite(.timeLimit(.minutes(10)))
struct SchemaAgreementTests {
    static let accepted: [String] =
        renditions([
            #""width":1"#, #""height":16383"#, #""width":256.0"#, #""width":2.56e2"#, #""width":1,"height":1"#,
            #""width":1,"quality":1"#, #""width":1,"quality":100,"format":"avif""#, #""width":1,"format":"png""#,
            #""width":1,"quality":50,"format":"auto""#, #""width":1,"height":1,"gravity":"entropy","fit":"cover""#,
            #""width":1,"height":1,"gravity":"attention","fit":"cover""#,
            #""width":1,"height":1,"gravity":"north","fit":"contain""#,
            ##""width":1,"background":"#aBc""##, ##""width":1,"background":"#12345678""##,
            #""width":1,"withoutEnlargement":false"#, #""width":1,"name":"-""#, #""width":1,"name":"a..b""#,
            #""width":1,"name":"\#(String(repeating: "n", count: 64))""#,
        ])
        + Rendition.Fit.allCases.map { rendition(#""width":1,"fit":"\#($0.rawValue)""#) }
        + Rendition.Gravity.words.compactMap(\.word)
        .map { rendition(#""width":1,"height":1,"fit":"cover","gravity":"\#($0)""#) }
        + Rendition.Format.allCases.map { rendition(#""width":1,"format":"\#($0.rawValue)""#) }
        + sources([
            "no scheme at all", "ftp://old.example/a.gif", "cameo-shop.example/a.png", "dataset.png", "data:,",
            "DATA:;base64,", "data:a/b;c=d;base64,QUJD", "data:,%00%ff", "file:///Käse \u{1F9C0}",
            "cameo://thumb/0123456789abcdef0123456789abcdef", "CAMEO://Thumb/0123456789abcdef0123456789abcdef",
            "cameo://blob/sha256-\(String(repeating: "0", count: 64))", "cameo://source/file%3A%2F%2F%2Fa%C3%A4",
            "cameo://source/file:///a", String(repeating: "s", count: 8_192), base64(count: 60), base64(count: 60_000),
            " " + base64(count: 60_000), "%2F9j%2F" + String(repeating: "4AAQ", count: 9_000),
            "data:," + String(repeating: "d", count: 100_000), "\u{80}\u{2028}",
        ])
        + requests([
            #""queue":"a""#, #""queue":"\#(String(repeating: "q", count: 64))""#, #""queue":"0.9_-z""#,
            #""priority":-100"#, #""priority":100"#, #""priority":1e2"#, #""maxAttempts":1"#, #""maxAttempts":25"#,
            #""timeout":1"#, #""timeout":3600"#, #""timeout":3600.0"#, #""timeout":1.001"#, #""batch":"x""#,
            #""batch":"\#(String(repeating: "\u{1F9C0}", count: 200))""#, #""headers":{}"#, #""metadata":{}"#,
            #""labels":[]"#, #""labels":["user:42","user:42","\#(String(repeating: "ä", count: 100))"]"#,
            #""headers":{"X-Te":"a\tb","Accept":"ä","a!#$%&'*+-.^_`|~9":"","Te2":""}"#,
            #""headers":{"X":"\#(String(repeating: "v", count: 8_192))"}"#,
            #""headers":{\#((0..<50).map { #""X-\#($0)":"""# }.joined(separator: ","))}"#,
            #""metadata":{"t":"\#(String(repeating: "m", count: 16_384 - 8))"}"#,
            #""metadata":{"d":\#(String(repeating: "[", count: 62))\#(String(repeating: "]", count: 62))}"#,
            #""metadata":{"":null,"\u0000":[-0.0,1e308,9223372036854775807,true,{}]}"#,
            #""runAt":"2028-02-29T23:59:59.999999999-23:59""#, #""runAt":"0000-01-01T00:00:00Z""#,
            #""runAt":"9999-12-31T23:59:59.1+00:00""#, #""runAt":"2000-02-29T00:00:00Z""#,
        ])

    static let refused: [String] =
        renditions([
            #""width":16384"#, #""width":1e400"#, #""width":-1"#, #""width":1,"quality":101"#, #""width":[1]"#,
            #""width":9223372036854775808"#, #""width":1,"fit":1"#, #""width":1,"fit":"contain","gravity":"entropy""#,
            #""width":1,"background":"""#, ##""width":1,"background":"#""##, ##""width":1,"background":"#1234567""##,
            ##""width":1,"background":"#fff\n""##, ##""width":1,"background":"#ｆff""##, #""width":1,"name":"a b""#,
            #""width":1,"name":"ａ""#, #""width":1,"name":1"#, #""width":1,"quality":null"#, "",
        ])
        + sources([
            "\u{7F}", "a\tb", "data:", "data:,%", "data:,%0", "data:,%0g", "cameo:", "cameo://", "cameo://thumb",
            "cameo://thumb/0123456789ABCDEF0123456789ABCDEF", "cameo://thumb/0123456789abcdef0123456789abcdef/",
            "cameo://blob/0000", "cameo://source/", "cameo://source/%2", "Cameo:thumb",
            String(repeating: "s", count: 8_193), "/world/" + String(repeating: "s", count: 8_193),
        ])
        + requests([
            #""queue":"a b""#, #""queue":"a\n""#, #""queue":"ä""#, #""queue":null"#, #""priority":-101"#,
            #""priority":0.5"#, #""maxAttempts":26"#, #""timeout":0.999"#, #""timeout":0"#, #""timeout":null"#,
            #""batch":"a\u007f""#, #""batch":"a\n""#, #""labels":["a\u007f"]"#, #""labels":[7]"#, #""labels":null"#,
            #""headers":[]"#, #""headers":{"a b":""}"#,
            #""headers":{"ä":""}"#, #""headers":{"X":"\u0000"}"#, #""headers":{"X\n":""}"#, #""headers":{"X":null}"#,
            #""headers":{"X":"a\n"}"#, #""metadata":null"#, #""metadata":"x""#, #""metadata":{"a":NaN}"#,
            #""runAt":"""#, #""runAt":"2027-02-29T00:00:00Z""#, #""runAt":"1900-02-29T00:00:00Z""#,
            #""runAt":"2030-04-31T00:00:00Z""#, #""runAt":"2030-00-01T00:00:00Z""#,
            #""runAt":"2030-01-31T24:00:00Z""#, #""runAt":"2030-01-31T23:59:60Z""#,
            #""runAt":"2030-01-31t12:00:00z""#, #""runAt":"2030-01-31T12:00Z""#, #""runAt":"2030-01-31T12:00:00.Z""#,
            #""runAt":"2030-01-31T12:00:00.1234567890Z""#, #""runAt":"2030-01-31T12:00:00+0200""#,
            #""runAt":"2030-01-31T12:00:00+24:00""#, #""runAt":"2030-01-31T12:00:00Z\n""#, #""runAt":null"#,
        ])
        + [
            "connection", "content-length", "expect", "host", "if-match", "if-modified-since", "if-none-match",
            "if-range", "if-unmodified-since", "keep-alive", "proxy-authorization", "proxy-connection", "range", "te",
            "trailer", "transfer-encoding", "upgrade",
        ].flatMap { requests([#""headers":{"\#($0)":""}"#, #""headers":{"\#($0.uppercased())":""}"#]) }
        + ["null", "[]", "{}", #""text""#, "1"]

    @Test func bothAcceptWhatIsWithinTheLimits() async throws {
        try await SchemaAgreement.expectAccepted(Self.accepted)
    }

    @Test func bothRefuseWhatIsOutsideTheLimits() async throws {
        try await SchemaAgreement.expectRefused(Self.refused)
    }

    @Test func requestOverItsByteLimitIsRefused() throws {
        let frame = #"{"source":"data:,","renditions":[{"width":1}]}"#
        let padding = String(repeating: "d", count: ThumbnailRequest.maximumBytes - frame.utf8.count)
        let largest = frame.replacing("data:,", with: "data:," + padding)
        #expect(throws: Never.self) { try ThumbnailRequest(parsing: largest.utf8) }
        let error = try #require(throws: InvalidRequest.self) { try ThumbnailRequest(parsing: (largest + " ").utf8) }
        #expect(error.description.hasPrefix("has 1048577 bytes, more than 1048576; hand over a large picture as data"))
    }

    @Test func refusalOfALongTextIsShort() throws {
        let text = Self.rendition(#""width":1,"fit":"\#(String(repeating: "f", count: 100_000))""#)
        let error = try #require(throws: InvalidRequest.self) { try ThumbnailRequest(parsing: text.utf8) }
        #expect(error.description.count < 1_000)
        #expect(error.path == "renditions[0].fit")
    }

    private static func rendition(_ fields: String) -> String { SchemaAgreement.rendition(fields) }

    private static func renditions(_ fields: [String]) -> [String] { fields.map(rendition) }

    private static func sources(_ sources: [String]) -> [String] {
        sources.map { JSONValue.string($0).canonicalText }
            .map { #"{"source":\#($0),"renditions":[{"width":1}]}"# }
    }

    /// Base64 that begins like a picture.
    private static func base64(count: Int) -> String {
        Data(Array("GIF89a".utf8) + [UInt8](repeating: 7, count: count - 6)).base64EncodedString()
    }

    private static func requests(_ fields: [String]) -> [String] {
        fields.map { #"{"source":"https://pictures.example/cat.jpg","renditions":[{"width":1}],\#($0)}"# }
    }
}
