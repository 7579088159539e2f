import CameoModel
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CanonicalJSONTests {
    /// RFC 8785, appendix B.
    @Test(
        arguments: [
            (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"), (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"), (0x7FEF_FFFF_FFFF_FFFF, "1.7976931348623157e+308"),
            (0xFFEF_FFFF_FFFF_FFFF, "-1.7976931348623157e+308"), (0x4340_0000_0000_0000, "9007199254740992"),
            (0xC340_0000_0000_0000, "-9007199254740992"), (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44B5_2D02_C7E1_4AF5, "9.999999999999997e+22"), (0x44B5_2D02_C7E1_4AF6, "1e+23"),
            (0x44B5_2D02_C7E1_4AF7, "1.0000000000000001e+23"), (0x444B_1AE4_D6E2_EF4E, "999999999999999700000"),
            (0x444B_1AE4_D6E2_EF4F, "999999999999999900000"), (0x444B_1AE4_D6E2_EF50, "1e+21"),
            (0x3EB0_C6F7_A0B5_ED8C, "9.999999999999997e-7"), (0x3EB0_C6F7_A0B5_ED8D, "0.000001"),
            (0x41B3_DE43_5555_5553, "333333333.3333332"), (0x41B3_DE43_5555_5554, "333333333.33333325"),
            (0x41B3_DE43_5555_5555, "333333333.3333333"), (0x41B3_DE43_5555_5556, "333333333.3333334"),
            (0x41B3_DE43_5555_5557, "333333333.33333343"), (0xBECB_F647_612F_3696, "-0.0000033333333333333333"),
            (0x4314_3FF3_C1CB_0959, "1424953923781206.2"),
        ] as [(UInt64, String)]
    )
    func numberIsWrittenAsRFC8785Says(bits: UInt64, text: String) {
        #expect(JSONValue.number(Double(bitPattern: bits)).canonicalText == text)
    }

    @Test(
        arguments: [
            ("1.0", "1"), ("-0.0", "0"), ("-0", "0"), ("1e2", "100"), ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"), ("123e-7", "0.0000123"), ("1e-7", "1e-7"), ("1.5e-7", "1.5e-7"), ("0.5", "0.5"),
            ("9007199254740993", "9007199254740993"), ("9223372036854775807", "9223372036854775807"),
            ("18446744073709551615", "18446744073709552000"),
        ]
    )
    func numberOfATextIsWritten(text: String, canonical: String) throws {
        #expect(try JSONValue(parsing: text).canonicalText == canonical)
    }

    @Test func everyNumberReadsBackAsItself() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<10_000 {
            let value = Double(bitPattern: .random(in: .min ... .max, using: &generator))
            guard value.isFinite else { continue }
            let text = JSONValue.number(value).canonicalText
            #expect(Double(text) == value, "\(value.bitPattern)")
        }
    }

    /// RFC 8785, section 3.2.3.
    @Test func keysAreSortedAsUTF16() throws {
        let text = #"""
            {"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
             "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}
            """#
        let expected =
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\","
            + "\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\","
            + "\"\u{1F600}\":\"Emoji: Grinning Face\",\"\u{FB33}\":\"Hebrew Letter Dalet With Dagesh\"}"
        let canonical = try JSONValue(parsing: text).canonicalText
        #expect(Array(canonical.utf8) == Array(expected.utf8))
    }

    /// RFC 8785, section 3.2.2.
    @Test func sampleOfTheRFC() throws {
        let text = #"""
            {"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
             "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}
            """#
        let expected =
            #"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#
            + #""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        #expect(try JSONValue(parsing: text).canonicalText == expected)
    }

    @Test func onlyWhatMustBeEscapedIsEscaped() {
        let text = String(String.UnicodeScalarView((0...0x80).compactMap { Unicode.Scalar($0 as UInt32) }))
        let controls =
            #"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#
            + #"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"#
        let ascii =
            ##" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"##
        let expected = "\"\(controls)\(ascii)\u{7F}\u{80}\""
        #expect(Array(JSONValue.string(text).canonicalText.utf8) == Array(expected.utf8))
    }

    @Test func textIsNotNormalised() throws {
        #expect(try Array(JSONValue(parsing: "\"a\u{308}\"").canonicalText.utf8) == Array("\"a\u{308}\"".utf8))
    }

    @Test func codableFormHasTheSameContent() throws {
        let text = #"{"a":[1,-2,0.5,true,false,null,"x/y",{}],"b":{"":[]},"n":9223372036854775807,"ä":"😀\n"}"#
        let value = try JSONValue(parsing: text)
        let encoded = try WireFormat.encode(value)
        #expect(try JSONValue(parsing: encoded) == value)
        #expect(try WireFormat.decode(JSONValue.self, from: encoded) == value)
        #expect(value.canonicalText == text)
    }
}
