import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct JSONParsingTests {
    @Test(
        arguments: [
            ("null", .null), ("true", .bool(true)), (" \t\r\nfalse\n", .bool(false)), ("0", .integer(0)),
            ("-0", .integer(0)), ("-1", .integer(-1)), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
            ("1.0", .number(1)), ("1e2", .number(100)), ("1E+2", .number(100)), ("-1.5e-3", .number(-0.0015)),
            ("0.1", .number(0.1)), ("1e-400", .number(0)),
            ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
            (#""""#, .string("")), (#""a\"\\\/\b\f\n\r\t""#, .string("a\"\\/\u{08}\u{0C}\n\r\t")),
            (#""\u0041\u00e4\u20AC\ud83d\ude00""#, .string("Aä€😀")), (#""\u0000""#, .string("\0")),
            ("\"\u{7F}\u{2028}ä😀\"", .string("\u{7F}\u{2028}ä😀")),
            (#""\uFFFF\uD7FF\uE000""#, .string("\u{FFFF}\u{D7FF}\u{E000}")),
            ("[]", .array([])), ("[ ]", .array([])),
            ("[1,[2],{}]", .array([.integer(1), .array([.integer(2)]), .object([:])])),
            ("{ }", .object([:])), (#"{"":1}"#, .object(["": .integer(1)])),
            (
                #"{"a":{"a":1},"b":[{"a":2},{"a":3}]}"#,
                .object([
                    "a": .object(["a": .integer(1)]),
                    "b": .array([.object(["a": .integer(2)]), .object(["a": .integer(3)])]),
                ])
            ),
        ] as [(String, JSONValue)]
    )
    func acceptsTexts(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(
        arguments: [
            "", " ", "nul", "nullx", "True", "NaN", "Infinity", "-Infinity", "undefined", "1 2", "[1]]", "{}{}",
            "/**/1",
            "01", "-01", "00", "+1", "1.", ".5", "-", "--1", "1e", "1e+", "1.e1", "0x10", "1_000", "1e400", "-1e400",
            "1\(String(repeating: "0", count: 400))",
            "[", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]", "[1,,2]", "]",
            "{", #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #"{"a":1,}"#, "{,}", #"{"a" 1}"#, #"{"a":}"#, "{a:1}",
            "{'a':1}", "{1:2}", "{null:1}", #"{"a":1 "b":2}"#, #"{"a":1]"#,
            #"""#, #""a"#, #""\""#, #""\x41""#, #""\u12""#, #""\u12G4""#, #""\u+123""#, #""\u１２３４""#, #""\'""#, "'a'",
            "\"\n\"", "\"\t\"", "\"\u{00}\"", "\"\u{1F}\"",
            #""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#,
            #""\udc00\ud800""#, #""\ud83d\ude0""#,
            "\u{FEFF}1", "\u{FEFF}{}", "\u{A0}1", "\u{0C}1", "1\u{00}",
        ]
    )
    func refusesTexts(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
    }

    @Test(
        arguments: [
            #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":2}"#, #"{"😀":1,"\uD83D\uDE00":2}"#,
            #"{"":1,"":2}"#, #"[{"x":{"k":1,"k":2}}]"#, #"{"/":1,"\/":2}"#,
            // Equal to Swift and to any program that normalises: refused, although RFC 8259 sees two keys.
            "{\"\u{E4}\":1,\"a\u{308}\":2}",
        ]
    )
    func refusesDuplicateKeys(text: String) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
        #expect(error.reason.hasPrefix("duplicate key"))
    }

    @Test(
        arguments: [
            [0xFF], [0xC3], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x80], [0xE2, 0x82],
        ] as [[UInt8]]
    )
    func refusesInvalidUTF8(bytes: [UInt8]) {
        let quote = [UInt8(ascii: "\"")]
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: quote + bytes + quote) }
        #expect(throws: JSONSyntaxError.self) {
            try JSONValue(parsing: Array("{\"".utf8) + bytes + Array("\":1}".utf8))
        }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: bytes) }
    }

    @Test func nestingIsBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: #"{"a":["#, count: depth / 2) + String(repeating: "]}", count: depth / 2)
        }
        #expect(throws: Never.self) { try JSONValue(parsing: nested(JSONValue.maximumDepth)) }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: nested(JSONValue.maximumDepth + 2)) }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: String(repeating: "[", count: 1_000_000)) }
        // Width is not depth.
        #expect(throws: Never.self) { try JSONValue(parsing: "[" + String(repeating: "[],", count: 1_000) + "[]]") }
    }

    @Test(
        arguments: [
            ("[1, x]", 4), ("{\"a\" 1}", 5), ("[1] 2", 4), ("\"a", 2), ("", 0), ("{\"ä\":\n?}", 7),
        ]
    )
    func errorGivesTheByteOffset(text: String, offset: Int) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) }
        #expect(error.offset == offset)
        #expect(error.description == "\(error.reason) at byte \(offset)")
    }

    @Test(
        arguments: [
            (#"{"metadata":{"id":9223372036854775808}}"#, "metadata.id", "9223372036854775808"),
            (#"{"metadata":{"a":1,"b":[{"c":-9223372036854775809}]}}"#, "metadata.b.c", "-9223372036854775809"),
            ("18446744073709551615", "", "18446744073709551615"),
            ("[100000000000000000000]", "", "100000000000000000000"),
        ]
    )
    func aWholeNumberBeyond64BitsIsRefusedByName(text: String, path: String, number: String) throws {
        let error = try #require(throws: InvalidRequest.self) { try JSONValue(reading: text.utf8, atMost: 1_000) }
        #expect(error.path == path)
        #expect(error.reason == "the whole number \(number) does not fit in 64 signed bits; send it as a string")
        // What is stored already is read.
        #expect(throws: Never.self) { try JSONValue(parsing: text) }
        for fit in ["9223372036854775807", "-9223372036854775808", "1e19", "9223372036854775808.5"] {
            #expect(throws: Never.self) { try JSONValue(reading: fit.utf8, atMost: 1_000) }
        }
    }

    /// Damaged texts are refused or parsed, never crash, and a parsed value survives a round trip.
    @Test func damagedTextsAreReadOrRefused() throws {
        var random = SeededRandom(seed: 7)
        let texts = try (Example.valid("job") + Example.valid("thumbnail-request")).map { Array(try $0.data) }
        try #require(!texts.isEmpty)
        var readable = 0
        for round in 0..<4_000 {
            var bytes = texts[round % texts.count]
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(Array(#"{}[]",:\u0-e. "#.utf8).randomElement(using: &random) ?? 0, at: place)
                }
            }
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            readable += 1
            let text = value.canonicalText
            #expect(try JSONValue(parsing: text).canonicalText == text)
        }
        #expect(readable > 100)
    }
}
