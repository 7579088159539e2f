import CameoModel
import Foundation
import TestSupport
import Testing

/// The tables of a rendition's options, against the schema and against `cameo-enqueue --help`.
@Suite(.timeLimit(.minutes(10)))
struct RenditionOptionTableTests {
    private struct Row {
        let section: String
        /// `--crop`, without examples of its value.
        let options: [String]
        let fields: [String]
        let defaultCell: String
        let meaning: String
    }

    private struct Schema: Decodable {
        struct Part: Decodable {
            let properties: [String: Field]
        }

        struct Field: Decodable {
            let `default`: JSONValue?
        }

        let parts: [String: Part]

        private enum CodingKeys: String, CodingKey {
            case parts = "$defs"
        }

        init(from decoder: any Decoder) throws {
            let all = try decoder.container(keyedBy: CodingKeys.self).decode(
                [String: JSONValue].self,
                forKey: .parts
            )
            parts = try all.filter { ["rendition", "overlay"].contains($0.key) }.mapValues {
                try WireFormat.decode(Part.self, from: WireFormat.encode($0))
            }
        }
    }

    private static let sections = ["Geometry Options", "Look Options", "Output Options"]

    private func rows() throws -> [Row] {
        let text = try Page.article("Renditions").text
        var section = ""
        var rows: [Row] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#") {
                section = line.drop { "# ".contains($0) }.capitalized
            } else if Self.sections.contains(section), line.hasPrefix("|"), !line.hasPrefix("|---") {
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                try #require(cells.count == 4, "\(line)")
                guard cells[0] != "option" else { continue }
                rows.append(
                    Row(
                        section: section,
                        options: cells[0].matches(of: #/--[a-z-]+/#).map { String($0.output) },
                        fields: cells[1].matches(of: #/`([A-Za-z.]+)`/#).map { String($0.output.1) },
                        defaultCell: cells[2],
                        meaning: cells[3]
                    )
                )
            }
        }
        return rows
    }

    /// Of every field that a table should have: what it writes as its default, nil where the schema has none.
    private func fields() throws -> [String: String?] {
        let file = Repository.file("proto-json/thumbnail-request.schema.json")
        let schema = try WireFormat.decode(Schema.self, from: Data(contentsOf: file))
        var fields = try #require(schema.parts["rendition"]).properties.mapValues { Self.text($0.default) }
        fields["overlay"] = nil
        for (name, field) in try #require(schema.parts["overlay"]).properties {
            fields["overlay.\(name)"] = Self.text(field.default)
        }
        return fields
    }

    private static func text(_ value: JSONValue?) -> String? {
        switch value {
        case nil: nil
        case .string(let word): word
        case .array(let words) where !words.isEmpty: words.compactMap { text($0) }.joined(separator: ",")
        case .some(let value): value.canonicalText
        }
    }

    @Test func tablesHaveEveryFieldOfTheSchemaWithItsDefault() throws {
        let rows = try rows()
        let fields = try fields()
        #expect(rows.flatMap(\.fields).sorted() == fields.keys.sorted())
        for row in rows {
            for field in row.fields {
                if let value = fields[field] ?? nil {
                    #expect(row.defaultCell == "`\(value)`", "\(field)")
                } else {
                    #expect(!row.defaultCell.isEmpty && !row.defaultCell.contains("`"), "\(field) has no default")
                }
            }
        }
    }

    @Test func tablesHaveTheOptionsOfTheCommandAndNoOther() throws {
        let help = try #require(try CommandHelp.all(of: "cameo-enqueue").first?.help)
        let rows = try rows()
        for section in Self.sections {
            let inHelp = help.options.filter { $0.section == section }.map(\.name)
            #expect(inHelp.count >= 6, "\(section)")
            #expect(Set(rows.filter { $0.section == section }.flatMap(\.options)) == Set(inHelp))
        }
    }

    @Test func tablesNameTheFormatsAsTheirDeclaration() throws {
        let rows = Dictionary(uniqueKeysWithValues: try rows().flatMap { row in row.fields.map { ($0, row) } })
        for option in Rendition.EncodingOption.allCases {
            guard ![.quality, .maxBytes, .keepProfile, .keep].contains(option) else { continue }
            let row = try #require(rows[option.rawValue])
            #expect(row.meaning.hasPrefix("\(option.formatNames()): "), "\(option)")
        }
        var rendition = Rendition(width: 1)
        rendition.encoding.palette = true
        for format in Rendition.Format.written {
            #expect(rows["format"]?.meaning.contains("`\(format.rawValue)`") == true, "\(format)")
            guard let quality = rendition.quality(in: format) else { continue }
            let words = "\(format.traits.picture.name)\(format == .png ? " with a palette" : "") \(quality)"
            #expect(rows["quality"]?.defaultCell.contains(words) == true, "\(words)")
        }
    }

    @Test func thePathsOfTheInterfaceHaveTheExtensionsOfAllFormats() throws {
        let text = try String(contentsOf: Repository.file("Sources/CameoWeb/API/openapi.json"), encoding: .utf8)
        let endings = Rendition.Format.written.flatMap { format in
            format.fileExtension == format.rawValue ? [format.rawValue] : [format.fileExtension, format.rawValue]
        }
        #expect(text.contains(#"(\\.(\#(endings.joined(separator: "|"))|vtt))?$"#))
    }

    @Test func everySourceIsWrittenInOneFormat() {
        for source in PictureFormat.allCases {
            let formats = Rendition.Format.written.filter { $0.traits.sources.contains(source) }
            #expect(formats.count == 1 && formats == [Rendition.Format.source.written(for: source)], "\(source)")
        }
    }

    @Test func everyFieldButTheNameCanBeTyped() throws {
        for row in try rows() where row.options.isEmpty { #expect(row.fields == ["name"]) }
    }
}
