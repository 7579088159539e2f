internal import Foundation

/// A page of the documentation: the README, or an article of the catalog.
package struct Page: Sendable {
    /// What stands between two fences, which may be indented as a part of a list.
    package struct Block: Sendable {
        package let language: String
        package let text: String
    }

    package static let readme = "README.md"
    package static let catalog = "Sources/Cameo/Cameo.docc"

    /// The README and then all articles, by their paths in the repository.
    package static let paths: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: Repository.file(catalog).path)) ?? []
        return [readme] + names.filter { $0.hasSuffix(".md") }.sorted().map { "\(catalog)/\($0)" }
    }()

    package static func all() throws -> [Page] { try paths.map(Page.init) }

    package static func article(_ name: String) throws -> Page { try Page("\(catalog)/\(name).md") }

    package let path: String
    package let text: String
    package let blocks: [Block]
    /// The page without its blocks.
    package let prose: String

    package init(_ path: String) throws {
        self.path = path
        text = try String(contentsOf: Repository.file(path), encoding: .utf8)
        var (blocks, prose) = ([Block](), "")
        var open: (language: String, text: String)?
        var indent = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.drop { $0 == " " }
            if words.hasPrefix("```") {
                if let block = open { blocks.append(Block(language: block.language, text: block.text)) }
                open = open == nil ? (String(words.dropFirst(3)), "") : nil
                indent = line.count - words.count
            } else if open != nil {
                open?.text += line.dropFirst(indent) + "\n"
            } else {
                prose += line + "\n"
            }
        }
        (self.blocks, self.prose) = (blocks, prose)
    }

    /// From the heading to the next one of the same rank or a higher one; nil if there is no such heading.
    package func section(_ heading: String) -> String? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("#") && $0.drop { "# ".contains($0) } == heading })
        else { return nil }
        let rank = lines[start].prefix { $0 == "#" }.count
        let rest = lines[(start + 1)...].prefix { line in
            let own = line.prefix { $0 == "#" }.count
            return own == 0 || own > rank
        }
        return rest.joined(separator: "\n")
    }

    package var headings: [String] {
        prose.split(separator: "\n").filter { $0.hasPrefix("#") }.map { String($0.drop { "# ".contains($0) }) }
    }

    /// What stands between backticks, without the symbols of a module (two backticks).
    package var codeSpans: [String] {
        prose.matches(of: #/(`+)([^`]+)`+/#).filter { $0.output.1.count == 1 }
            .map { String($0.output.2).replacing(#/\s+/#, with: " ") }
    }
}
