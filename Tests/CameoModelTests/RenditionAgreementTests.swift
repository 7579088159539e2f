import CameoModel
import Foundation
import TestSupport
import Testing

/// Checks that schema and Swift reader agree about every field of a rendition: at the edges of its range, beyond them,
/// with another type, and beside incompatible fields.
@Suite(.timeLimit(.minutes(10)))
struct RenditionAgreementTests {
    /// A field with representative good and bad values. `beside` lists fields that it needs or is compatible with.
    private struct Field {
        let name: String
        var beside = ""
        let good: [String]
        let bad: [String]

        var accepted: [String] { good.map { text($0) } }
        var refused: [String] { (bad + ["null"]).map { text($0) } }

        private func text(_ value: String) -> String {
            SchemaAgreement.rendition(#""width":1\#(beside),"\#(name)":\#(value)"#)
        }
    }

    private static let flags = ["1", "0", #""true""#, "[]", "{}"]
    private static let notNumbers = ["true", "false", #""1""#, "[1]", "{}"]
    private static let notColors = ["1", #""""#, ##""#12""##, ##""#12345""##, ##""#ggg""##, #""red""#, "[]"]

    /// Every field but the name, the width and the fit.
    private static let fields = special + plain

    /// The flags, numbers and colours that need nothing beside them. Their values follow from the schema.
    private static let plain: [Field] = {
        let file = Repository.file("proto-json/thumbnail-request.schema.json")
        let schema = (try? JSONValue(parsing: Data(contentsOf: file))) ?? .null
        let others = Set(special.map(\.name) + ["name", "width", "fit"])
        let kinds = (schema["$defs", "rendition", "properties"]?.members ?? [:]).filter { !others.contains($0.key) }
        return kinds.sorted { $0.key < $1.key }.compactMap { name, kind in
            let type = kind["type"]?.text
            if type == "boolean" { return Field(name: name, good: ["true", "false"], bad: flags) }
            if kind["$ref"]?.text == "#/$defs/color" {
                let good = [##""#C80""##, ##""#cc8800""##, ##""#cc8800FF""##, ##""#0000""##]
                return Field(name: name, good: good, bad: notColors)
            }
            guard let low = kind["minimum"]?.double, let high = kind["maximum"]?.double else { return nil }
            func text(_ number: Double) -> String { JSONValue.number(number).canonicalText }
            let isWhole = type == "integer"
            let step = isWhole ? 1 : 0.001
            let outside = [text(low - step), text(high + step), "-1", "1e400"] + (isWhole ? [text(low + 0.5)] : [])
            return Field(name: name, good: [text(low), text(high), "\(Int(high)).0"], bad: outside + notNumbers)
        }
    }()

    private static let special: [Field] = [
        Field(
            name: "gravity",
            beside: #","height":1,"fit":"cover""#,
            good: [
                #"{"x":0,"y":1}"#, #"{"y":0.5,"x":1.0}"#, #"{"x":1e-9,"y":0}"#, #""entropy""#, #""southwest""#,
            ],
            bad: [
                #"{"x":0}"#, #"{"y":0}"#, "{}", #"{"x":-0.01,"y":0}"#, #"{"x":0,"y":1.01}"#, #"{"x":"0","y":0}"#,
                #"{"x":0,"y":0,"z":0}"#, #"{"x":null,"y":0}"#, "0.5", "[0,1]", #""North""#, #""""#, "true",
            ]
        ),
        Field(
            name: "time",
            good: [
                "0", "15.5", "1e6", "2.0", #""auto""#, #""0%""#, #""50%""#, #""100%""#, #""12.5%""#, #""0.001%""#,
                #""99.999%""#, #""cover""#,
            ],
            bad: [
                "-0.1", "1000000.5", "true", "[1]", "{}", #""""#, #""1""#, #""%""#, #""50 %""#, #""050%""#, #""50.0%""#,
                #"".5%""#, #""1e1%""#, #""100.1%""#, #""101%""#, #""-1%""#, #""0.0001%""#, #""9.9999%""#, #""Auto""#,
                #""Cover""#,
            ]
        ),
        Field(name: "accurate", beside: #","time":1"#, good: ["true", "false"], bad: flags),
        Field(
            name: "storyboard",
            good: [
                #"{"columns":5,"rows":4}"#, #"{"columns":1,"rows":100}"#, #"{"columns":10.0,"rows":1,"interval":0.1}"#,
                #"{"columns":10,"rows":10,"interval":1e5}"#,
            ],
            bad: [
                "{}", #"{"columns":5}"#, #"{"rows":5}"#, #"{"columns":0,"rows":1}"#, #"{"columns":1,"rows":101}"#,
                #"{"columns":1.5,"rows":1}"#, #"{"columns":1,"rows":1,"interval":0}"#,
                #"{"columns":1,"rows":1,"interval":100001}"#, #"{"columns":1,"rows":1,"interval":"1s"}"#,
                #"{"columns":1,"rows":1,"count":1}"#, #""5x4""#, "5", "[5,4]", "true",
            ]
        ),
        Field(
            name: "crop",
            good: [
                #"{"width":1,"height":1}"#, #"{"width":10000000,"height":1e7,"left":0,"top":10000000}"#,
                #"{"left":3.0,"top":4,"width":5.0,"height":6,"unit":"pixels"}"#,
                #"{"width":1,"height":1.0,"unit":"fraction"}"#,
                #"{"left":0.1,"top":0.9,"width":0.9,"height":0.1,"unit":"fraction"}"#,
                #"{"left":0,"top":0,"width":1e-9,"height":0.001,"unit":"fraction"}"#,
            ],
            bad: [
                "{}", #"{"width":1}"#, #"{"height":1}"#, #"{"width":0,"height":1}"#, #"{"width":1,"height":0}"#,
                #"{"width":0,"height":1,"unit":"fraction"}"#, #"{"width":1.5,"height":1}"#,
                #"{"width":1,"height":1,"left":0.5}"#, #"{"width":1,"height":1,"top":-1}"#,
                #"{"width":10000001,"height":1}"#, #"{"width":1,"height":1,"left":10000001}"#,
                #"{"width":1.001,"height":1,"unit":"fraction"}"#, #"{"width":1,"height":2,"unit":"fraction"}"#,
                #"{"width":1,"height":1,"left":-0.1,"unit":"fraction"}"#,
                #"{"width":1,"height":1,"left":1.1,"unit":"fraction"}"#, #"{"width":1,"height":1,"unit":"percent"}"#,
                #"{"width":1,"height":1,"unit":1}"#, #"{"width":1,"height":1,"right":1}"#,
                #"{"width":"1","height":1}"#, #"{"width":1,"height":null}"#, #""1x1""#, "1", "[0,0,1,1]",
            ]
        ),
        Field(
            name: "rotate",
            good: ["0", "90", "180", "270", "90.0"],
            bad: ["-90", "45", "360", "1e400"] + notNumbers
        ),
        Field(
            name: "flip",
            good: [#""horizontal""#, #""vertical""#, #""both""#],
            bad: [#""Horizontal""#, #""none""#, #""""#, "true", "1", #"["both"]"#]
        ),
        Field(
            name: "cornerRadius",
            good: [
                "1", "16383", "8.0", #""circle""#, #"{"fraction":0.001}"#, #"{"fraction":0.5}"#,
            ],
            bad: [
                "0", "16384", "-1", "1.5", "true", #""Circle""#, #""25%""#, "{}", #"{"fraction":0}"#,
                #"{"fraction":0.501}"#, #"{"fraction":"0.2"}"#, #"{"fraction":0.2,"unit":"px"}"#, #"{"pixels":3}"#,
                "[1]",
            ]
        ),
        Field(
            name: "corners",
            beside: #","cornerRadius":1"#,
            good: [
                #"["topLeft"]"#, #"["bottomLeft","topRight"]"#, #"["topLeft","topRight","bottomRight","bottomLeft"]"#,
            ],
            bad: [
                "[]", #"["topLeft","topLeft"]"#, #"["topleft"]"#, #"["all"]"#, "[1]", "[null]", #""topLeft""#, "{}",
                #"["topLeft","topRight","bottomRight","bottomLeft","topLeft"]"#,
            ]
        ),
        Field(
            name: "borderColor",
            beside: #","border":1"#,
            good: [##""#C80""##, ##""#cc8800""##, ##""#000000ff""##],
            bad: notColors
        ),
        Field(
            name: "overlay",
            good: [
                #"{"source":"data:,"}"#, #"{"source":"a"}"#,
                #"{"source":"x:","gravity":"center","opacity":0,"scale":0.01,"margin":0}"#,
                #"{"source":"x:","gravity":{"x":0,"y":1},"opacity":1.0,"scale":1,"margin":4096}"#,
                #"{"source":"cameo://thumb/0123456789abcdef0123456789abcdef"}"#,
            ],
            bad: [
                "{}", #""data:,""#, "[]", "true", #"{"source":""}"#, #"{"source":1}"#, #"{"source":null}"#,
                #"{"source":"a\n"}"#, #"{"source":"data:"}"#, #"{"source":"cameo:thumb"}"#,
                #"{"source":"\#(String(repeating: "s", count: 8_193))"}"#, #"{"source":"x:","gravity":"entropy"}"#,
                #"{"source":"x:","gravity":"attention"}"#, #"{"source":"x:","gravity":{"x":0}}"#,
                #"{"source":"x:","gravity":null}"#, #"{"source":"x:","opacity":1.01}"#,
                #"{"source":"x:","opacity":-0.1}"#,
                #"{"source":"x:","opacity":"1"}"#, #"{"source":"x:","scale":0}"#, #"{"source":"x:","scale":1.01}"#,
                #"{"source":"x:","scale":0.009}"#, #"{"source":"x:","scale":true}"#, #"{"source":"x:","margin":-1}"#,
                #"{"source":"x:","margin":4097}"#, #"{"source":"x:","margin":0.5}"#, #"{"source":"x:","headers":{}}"#,
            ]
        ),
        Field(name: "format", good: [#""gif""#, #""source""#], bad: [#""heif""#, #""GIF""#, "1", "[]"]),
        Field(name: "progressive", beside: #","format":"jpeg""#, good: ["true", "false"], bad: flags),
        Field(
            name: "chromaSubsampling",
            beside: #","format":"jpeg""#,
            good: [#""4:4:4""#, #""4:2:0""#],
            bad: [#""4:2:2""#, #""444""#, "444", "true", "[]"]
        ),
        Field(name: "palette", beside: #","format":"png""#, good: ["true", "false"], bad: flags),
        Field(
            name: "keep",
            good: ["[]", #"["icc"]"#, #"["xmp","gps","icc","exif","copyright"]"#],
            bad: [#"["all"]"#, #"["icc","icc"]"#, #"["ICC"]"#, #""icc""#, "true", "{}", "[1]"]
        ),
    ]

    @Test func everyFieldOfARenditionIsInTheTable() {
        #expect((Self.fields.map(\.name) + ["name", "width", "fit"]).sorted() == Rendition.fields.sorted())
    }

    /// Renditions are equal if their ids are, which the Python program computes alike.
    @Test func everyValueOfAFieldIsInTheID() async throws {
        let source = "https://pictures.example/cat.jpg"
        let texts = try Self.fields.flatMap(\.accepted).map { text in
            try #require(JSONValue(parsing: text)["renditions", "0"])
        }
        let input: JSONValue = ["source": .string(source), "renditions": .array(texts)]
        let script = Repository.file("proto-json/thumbnail_id.py").path(percentEncoded: false)
        let result = try await run("/usr/bin/python3", [script], input: Data(input.canonicalText.utf8))
        let renditions = try texts.map { text in
            var rendition = try Rendition(json: text, at: "")
            rendition.name = "any"
            return rendition
        }
        let uris = try ThumbnailRequest(source: source, renditions: renditions).thumbnailIDs().map {
            CameoURI.thumbnail($0).text
        }
        #expect(result.outputText.split(separator: "\n").map(String.init) == uris, "\(result.errorText)")
        #expect(Set(uris).count == Set(renditions).count)
    }

    @Test func bothAcceptEveryGoodValue() async throws {
        try await SchemaAgreement.expectAccepted(Self.fields.flatMap(\.accepted))
    }

    @Test func bothRefuseEveryBadValue() async throws {
        try await SchemaAgreement.expectRefused(Self.fields.flatMap(\.refused))
    }

    private static let circle = #""cornerRadius":"circle""#
    private static let allCorners = #""corners":["topLeft","topRight","bottomRight","bottomLeft"]"#

    @Test func bothAcceptWhatGoesTogether() async throws {
        let texts = [
            #""storyboard":{"columns":5,"rows":4},"time":"auto","animated":false"#,
            #""animated":true,"page":0,"time":"auto""#,
            #""animated":false,"page":3"#, #""animated":true,"lossless":true"#,
            #""height":1,"fit":"contain","gravity":{"x":0.2,"y":0.8}"#, #""gravity":"center""#,
            "\(Self.circle),\(Self.allCorners)", Self.allCorners,
            #""format":"png","palette":true,"quality":50"#, #""format":"png","palette":true,"maxBytes":200"#,
            #""format":"png","palette":true,"effort":3"#, #""format":"png","lossless":false"#,
            #""format":"source","lossless":true,"palette":true,"progressive":true,"animated":true,"effort":1"#,
            #""format":"source","quality":9,"chromaSubsampling":"4:2:0","maxBytes":200,"keep":["gps"]"#,
            #""lossless":true,"effort":9"#, #""maxBytes":200,"quality":90"#, #""maxBytes":200,"animated":true"#,
            #""accurate":true,"time":"50%""#, #""accurate":false,"time":"cover""#, #""accurate":false"#,
            #""quality":5,"lossless":false"#, #""nearLossless":true,"quality":40,"effort":6,"animated":true"#,
            #""lossless":true,"nearLossless":false"#, #""border":3,"cornerRadius":9"#, #""dpr":8,"height":2047"#,
            #""dpr":0.1"#,
        ]
        try await SchemaAgreement.expectAccepted(texts.map { SchemaAgreement.rendition(#""width":1,\#($0)"#) })
    }

    @Test func bothRefuseWhatDoesNotGoTogether() async throws {
        let texts = [
            ##""keepProfile":true,"background":"#fff""##, ##""keepProfile":true,"tint":"#f00""##,
            #""keepProfile":true,"overlay":{"source":"file:///a.png"}"#,
            #""keepProfile":true,"border":1"#, ##""borderColor":"#fff""##, #""nearLossless":true,"lossless":true"#,
            #""nearLossless":true,"maxBytes":200"#, #""nearLossless":true,"format":"avif""#,
            #""animated":true,"page":1"#, #""lossless":true,"quality":80"#, #""lossless":true,"maxBytes":200"#,
            #""lossless":true,"format":"avif","chromaSubsampling":"4:2:0""#, #""format":"png","maxBytes":200"#,
            #""format":"png","palette":false,"maxBytes":200"#, #""format":"png","palette":false,"quality":80"#,
            #""height":1,"fit":"contain","gravity":"attention""#, #""height":1,"gravity":"north""#,
            #""height":1,"fit":"fill","gravity":{"x":0,"y":0}"#, #""fit":"cover","gravity":"north""#,
            #""corners":["topLeft"]"#, #""storyboard":{"columns":5,"rows":4},"time":"50%""#,
            #""storyboard":{"columns":5,"rows":4},"animated":true"#, #""animated":true,"time":0"#,
            #""format":"source","animated":true,"time":"cover""#,
            #""accurate":true"#, #""accurate":true,"time":"auto""#,
            #""accurate":true,"time":"cover""#,
            #"\#(Self.circle),"corners":["topLeft"]"#,
            #""format":"source","lossless":true,"quality":80"#, #""format":"source","animated":true,"page":1"#,
        ]
        try await SchemaAgreement.expectRefused(texts.map { SchemaAgreement.rendition(#""width":1,\#($0)"#) })
    }

    /// For every format and encoding option, both agree with each other and with the model's table.
    @Test func bothKnowWhichFormatHasWhichOption() async throws {
        let values: [Rendition.EncodingOption: String] = [
            .quality: "50", .lossless: "true", .nearLossless: "true", .effort: "5", .progressive: "true",
            .chromaSubsampling: #""4:4:4""#,
            .palette: "true", .maxBytes: "1000", .animated: "true", .keepProfile: "true", .keep: #"["copyright"]"#,
        ]
        #expect(values.count == Rendition.EncodingOption.allCases.count)
        var accepted: [String] = []
        var refused: [String] = []
        for format in Rendition.Format.allCases {
            for (option, value) in values.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                let fields = #""width":1,"format":"\#(format.rawValue)","\#(option.rawValue)":\#(value)"#
                let text = SchemaAgreement.rendition(fields)
                let hasIt = Rendition(width: 1, format: format).objection(to: option) == nil
                if hasIt { accepted.append(text) } else { refused.append(text) }
            }
        }
        #expect(accepted.count == 47)
        try await SchemaAgreement.expectAccepted(accepted)
        try await SchemaAgreement.expectRefused(refused)
    }
}
