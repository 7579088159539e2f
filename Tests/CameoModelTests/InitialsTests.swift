import CameoModel
import Foundation
import Testing

/// `initials:` URIs: the letters and colours of a name, and refusals.
@Suite(.timeLimit(.minutes(10)))
struct InitialsTests {
    private func letters(_ name: String) throws -> String {
        try Initials(parsing: "initials:\(PercentEncoding.encoded(name))").letters
    }

    @Test(arguments: [
        ("JD", "JD"), ("jd", "JD"), ("j", "J"), ("Ada", "A"), ("Ada Lovelace", "AL"), ("  ada   lovelace ", "AL"),
        ("John Ronald Reuel Tolkien", "JT"), ("J D", "JD"), ("Élodie", "É"), ("e\u{301}va \u{F6}zil", "ÉÖ"),
        ("Ωμέγα", "Ω"), ("αβ", "ΑΒ"), ("лев толстой", "ЛТ"), ("李小龙", "李"), ("김 철수", "김철"), ("ß", "ß"),
        ("გიორგი", "გ"), ("<&", "<&"), ("a+b c", "AC"), ("👩‍👩‍👧‍👦 🇩🇪", "👩‍👩‍👧‍👦🇩🇪"), ("7 Zwerge", "7Z"),
        ("\u{200F}א\u{200E} ב", "אב"),
        ("محمد علي", "م\u{200C}ع"),
    ])
    func lettersComeFromTheFirstAndTheLastWord(_ name: String, _ expected: String) throws {
        #expect(Array(try letters(name).unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test func optionsAreRead() throws {
        let plain = try Initials(parsing: "INITIALS:JD")
        #expect(plain.size == 512)
        let initials = try Initials(parsing: "initials:JD?size=64&background=%23F5A&color=%23123456")
        #expect(initials.size == 64)
        #expect(initials.background == Color("#ff55aa"))
        #expect(initials.color == Color("#123456"))
    }

    @Test func canonicalTextIsCompleteAndParsesBack() throws {
        for uri in [
            "initials:ada%20lovelace", "initials:%3C%26?background=%23fff8", "initials:JD?size=16&color=%23abc",
            "initials:%D9%85%D8%AD%D9%85%D8%AF%20%D8%B9%D9%84%D9%8A", "initials:%F0%9F%87%A9%20%F0%9F%87%AA",
        ] {
            let initials = try Initials(parsing: uri)
            #expect(try Initials(parsing: initials.canonicalText) == initials, "\(initials.canonicalText)")
            #expect(initials.canonicalText.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        }
        #expect(
            try Initials(parsing: "initials:jd?background=%23f5a623").canonicalText
                == "initials:JD?size=512&background=%23f5a623ff&color=%23000000ff"
        )
    }

    @Test func backgroundDependsOnTheNameAlone() throws {
        let names = (0..<300).map { "Person \($0)" }
        let colors = try names.map { try Initials(parsing: "initials:\(PercentEncoding.encoded($0))").background }
        // A biased hash would leave some colours out.
        #expect(Set(colors).count == 16)
        let same = try ["ada lovelace", "ADA%20%20LOVELACE", "Ada%20Lovelace?size=99"]
            .map { try Initials(parsing: "initials:\($0.replacingOccurrences(of: " ", with: "%20"))").background }
        #expect(Set(same).count == 1)
        // Frozen: a new version must not change existing avatars.
        #expect("\(same[0])" == "#37474fff")
    }

    @Test func textIsReadableOnEveryBackground() throws {
        for index in 0..<300 {
            let initials = try Initials(parsing: "initials:Person%20\(index)")
            #expect(initials.color == .white)
            #expect(contrast(initials.background, .white) >= 4.5, "\(initials.background)")
        }
        for (background, color) in [
            ("%23000", "#ffffff"), ("%23fff", "#000000"), ("%23f5a623", "#000000"), ("%2300000000", "#000000"),
            ("%231565c0", "#ffffff"), ("%23000000f0", "#ffffff"),
        ] {
            #expect(try Initials(parsing: "initials:A?background=\(background)").color == Color(color), "\(background)")
        }
    }

    /// The contrast ratio of WCAG 2.1 for opaque colours.
    private func contrast(_ one: Color, _ other: Color) -> Double {
        let luminances = [one, other].map { color in
            zip([color.red, color.green, color.blue], [0.2126, 0.7152, 0.0722]).reduce(0.0) { sum, pair in
                let value = Double(pair.0) / 255
                return sum + pair.1 * (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
            }
        }.sorted()
        return (luminances[1] + 0.05) / (luminances[0] + 0.05)
    }

    @Test(arguments: [
        ("initials:", "name"), ("initials:%20%20", "name"), ("initials:%E2%80%8B", "name"),
        ("initials:%EF%B8%8F", "name"),
        ("initials:J%0AD", "control"), ("initials:%C2%85", "control"), ("initials:%G1", "hexadecimal"),
        ("initials:%FF", "UTF-8"), ("initials:JD?background=#f5a623", "%23"), ("initials:JD?size=15", "16 to 2048"),
        ("initials:JD?size=2049", "16 to 2048"), ("initials:JD?size=", "16 to 2048"), ("initials:JD?size=+64", "16 to"),
        ("initials:JD?size=64&size=64", "twice"), ("initials:JD?font=Arial", "\"font\""), ("initials:JD?size", "value"),
        ("initials:JD?background=red", "%23rrggbb"), ("initials:JD?color=%23fff8", "opaque"),
        ("initials:A" + String(repeating: "%CC%81", count: 40), "code points"),
    ])
    func whatCannotBeDrawnIsRefusedByName(_ uri: String, _ reason: String) throws {
        let text = #"{"source":"\#(uri)","renditions":[{"width":9}]}"#
        let refusal = #expect(throws: InvalidRequest.self) { try ThumbnailRequest(parsing: text.utf8) }
        #expect(refusal?.path == "source")
        #expect(refusal?.reason.contains(reason) == true, "\(refusal?.reason ?? "")")
    }
}
