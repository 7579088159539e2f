import Cameo
import Foundation
import TestSupport
import Testing

/// The map that the documentation draws is that of the project: invariants, files, modules, links, tables and figures.
@Suite(.timeLimit(.minutes(10)))
struct MapTests {
    private func files(below folder: String) -> [String] {
        let root = Repository.file(folder)
        let names = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return names.map { "\(folder)/\($0)" }
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: Repository.file(path).path)
    }

    @Test func theReadmeIsOnePage() throws {
        let lines = try Page(Page.readme).text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        #expect(lines <= 150, "README.md has \(lines) lines: move what is more into an article")
    }

    /// The README repeats figures of two sections of Measuring, with their units.
    @Test func theFiguresOfTheReadmeAreThoseOfMeasuring() throws {
        let measuring = try Page.article("Measuring")
        let pictures = try #require(measuring.section("Speed of pictures"))
        let queue = try #require(measuring.section("Speed of the queue"))
        let paragraphs = try Page(Page.readme).text.components(separatedBy: "\n\n")
        let claims = Self.figures(in: try #require(paragraphs.first { $0.hasPrefix("Measured on ") }))
        #expect(claims.count >= 12)
        let unknown = Set(claims).subtracting(Self.figures(in: pictures) + Self.figures(in: queue))
        #expect(unknown.isEmpty, "not in Measuring: \(unknown.sorted())")
    }

    private static func figures(in text: String) -> [String] {
        let figure = #/[0-9]+(?:[.,][0-9]+)*(?:–[0-9]+(?:[.,][0-9]+)*)?(?: (?:%|ms|µs|px|jobs/s))?/#
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            .matches(of: figure).map { String($0.output) }
    }

    @Test func changesNamesTheSchemaOfAStore() async throws {
        let folder = try TemporaryFolder()
        let version = try await Client(store: folder.path("store")).status().schemaVersion
        let changes = try Page.article("Changes").text
        #expect(changes.contains("it is schema \(version) in a folder"), "the schema is \(version)")
    }

    @Test func everyInvariantThatTheCodeCitesIsDefined() throws {
        let page = try Page.article("Architecture")
        let defined = page.prose.matches(of: #/(?m)^- \*\*(I[0-9]+)\*\* /#).map { String($0.output.1) }
        #expect(defined == (1...7).map { "I\($0)" })
        var citations = 0
        for path in ["Sources", "Tests"].flatMap(files) where path.hasSuffix(".swift") || path.hasSuffix(".h") {
            let text = try String(contentsOf: Repository.file(path), encoding: .utf8)
            for match in text.matches(of: #/\b[Ii]nvariants? (I[0-9]+)\b/#) {
                #expect(defined.contains(String(match.output.1)), "\(path) cites \(match.output.1)")
                citations += 1
            }
        }
        #expect(citations >= 20)
    }

    @Test(arguments: Page.paths)
    func everyFileThatAPageNamesExists(path: String) throws {
        let page = try Page(path)
        let named = page.codeSpans.compactMap { $0.split(separator: " ").first.map(String.init) }
            .filter { $0.contains(#/^(Sources|Tests|deploy|proto-json|\.ci)\//#) }
        for file in named { #expect(exists(file), "\(path) names \(file)") }
        let least = ["Contributing.md": 60][URL(filePath: path).lastPathComponent] ?? 0
        #expect(named.count >= least, "\(path) names \(named.count) files")
    }

    /// Files and types have their names alone in the map: `JobRunner`, `SQLiteStore+Claim`.
    @Test func everyFileAndTypeThatTheMapNamesExists() throws {
        // And a trait, a folder and a type of Foundation.
        var known: Set = ["Fleet", "Tests", "URLSession"]
        for path in files(below: "Sources") {
            let url = URL(filePath: path)
            known.formUnion([url.lastPathComponent, url.deletingPathExtension().lastPathComponent])
            guard path.hasSuffix(".swift") else { continue }
            let text = try String(contentsOf: Repository.file(path), encoding: .utf8)
            let types = text.matches(of: #/\b(?:struct|class|enum|protocol|typealias|actor) (\w+)/#)
            known.formUnion(types.map { String($0.output.1) })
        }
        let named = try Page.article("Architecture").codeSpans.filter { $0.contains(#/^[A-Z]\w*[a-z]\w*(\+\w+)?$/#) }
        #expect(named.count >= 90)
        for name in named { #expect(known.contains(name), "Architecture.md names \(name)") }
    }

    /// `CameoWebTests.JobTests/withoutTokensNobodyWrites`, as the table of threats names what tries each.
    @Test func everyTestThatAPageNamesExists() throws {
        var count = 0
        for page in try Page.all() {
            for span in page.codeSpans {
                let name = span.wholeMatch(of: #/(\w+Tests)\.(\w+)\/(\w+)/#)
                guard let (_, module, suite, test) = name?.output else { continue }
                let isThere = try files(below: "Tests/\(module)").contains { path in
                    guard path.hasSuffix(".swift") else { return false }
                    let text = try String(contentsOf: Repository.file(path), encoding: .utf8)
                    return text.contains("struct \(suite) {") && text.contains("func \(test)(")
                }
                #expect(isThere, "\(page.path) names \(span)")
                count += 1
            }
        }
        #expect(count >= 40)
    }

    /// Every threat has a test.
    @Test func everyThreatIsTried() throws {
        let threats = try #require(try Page.article("UntrustedUploads").section("Threats"))
        let rows = threats.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count >= 30)
        for row in rows { #expect(row.contains(#/`\w+Tests\.\w+\/\w+` \|$/#), "\(row)") }
    }

    /// So that whoever uses the library with `traits: []` resolves none of them.
    @Test func whatOnlyTheWebServerNeedsHasItsTrait() throws {
        let manifest = try String(contentsOf: Repository.file("Package.swift"), encoding: .utf8)
        let start = try #require(manifest.range(of: "// For cameo-web alone")).upperBound
        let end = try #require(manifest.range(of: "    targets: [")).lowerBound
        let packages = manifest[start..<end].matches(of: #/url: "[^"]*\/([^"]+)"/#).map { String($0.output.1) }
        #expect(packages.contains("hummingbird"))
        let products = manifest.matches(of: #/\.product\(name: "\w+", package: "([^"]+)"(, condition: web)?/#)
        for product in products {
            let isOfWeb = packages.contains(String(product.output.1))
            #expect(isOfWeb == (product.output.2 != nil), "\(product.output.0)")
        }
    }

    @Test func theReadmeAndThePackageAgreeOnTheLicence() throws {
        let copyright = try String(contentsOf: Repository.file("deploy/packaging/copyright"), encoding: .utf8)
        let readme = try Page(Page.readme).text
        #expect(copyright.contains("License: none-chosen") == readme.contains("No licence has been chosen yet"))
    }

    /// Links to articles (`doc:`), to files, and to headings of either.
    @Test(arguments: Page.paths)
    func everyLinkLeadsSomewhere(path: String) throws {
        let page = try Page(path)
        let targets =
            page.prose.matches(of: #/\]\(([^)\s]+)\)/#).map { String($0.output.1) }
            + page.prose.matches(of: #/<(doc:[A-Za-z]+)>/#).map { String($0.output.1) }
        for target in targets where !target.hasPrefix("https://") {
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let file =
                parts[0].hasPrefix("doc:")
                ? "\(Page.catalog)/\(parts[0].dropFirst(4)).md"
                : resolved(parts[0], from: path)
            #expect(exists(file), "\(path) links to \(target)")
            guard parts.count == 2, exists(file) else { continue }
            let headings = try Page(file).headings
            let isThere = headings.contains { heading in
                parts[0].hasPrefix("doc:")
                    ? heading.replacing(" ", with: "-") == parts[1] : Self.anchor(of: heading) == parts[1]
            }
            #expect(isThere, "\(path) links to \(target), and there is no such heading")
        }
    }

    private func resolved(_ target: String, from path: String) -> String {
        var folders = path.split(separator: "/").dropLast().map(String.init)
        for part in target.split(separator: "/") {
            if part == ".." { _ = folders.popLast() } else { folders.append(String(part)) }
        }
        return folders.joined(separator: "/")
    }

    /// As GitHub makes it.
    private static func anchor(of heading: String) -> String {
        heading.lowercased().replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || "-_".contains($0) }
    }

    /// Every article is one click away from the README, and in the catalog's contents.
    @Test func everyArticleIsLinked() throws {
        let (readme, contents) = (try Page(Page.readme).text, try Page.article("Cameo").text)
        let articles = Page.paths.dropFirst().filter { !$0.hasSuffix("/Cameo.md") }
        #expect(articles.count >= 12)
        for path in articles {
            #expect(readme.contains("](\(path))"), "README.md has no link to \(path)")
            let name = URL(filePath: path).deletingPathExtension().lastPathComponent
            #expect(contents.contains("<doc:\(name)>"), "Cameo.md has no topic \(name)")
        }
    }

    /// What each target of the package's own folders depends on, without other packages.
    private func manifest() throws -> [String: [String]] {
        let text = try String(contentsOf: Repository.file("Package.swift"), encoding: .utf8)
        let own = Set(try FileManager.default.contentsOfDirectory(atPath: Repository.file("Sources").path))
        var targets: [String: [String]] = [:]
        for declaration in text.components(separatedBy: "arget(").dropFirst() {
            guard let name = declaration.firstMatch(of: #/^\s*name: "([^"]+)"/#).map({ String($0.output.1) }),
                own.contains(name), !name.hasPrefix("C") || name.hasPrefix("Cameo") || name.hasPrefix("Command")
            else { continue }
            let list = declaration.firstMatch(of: #/dependencies: \[([^\]]*)\]/#)?.output.1 ?? ""
            let words = list.matches(of: #/"([^"]+)"/#).map { String($0.output.1) }
            targets[name] = words.filter(own.contains).sorted()
        }
        return targets
    }

    /// The rows of a table: the first code span of the first cell, and those of the second one, sorted.
    private func rows(of section: String) throws -> [(name: String, second: [String])] {
        try section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let cells = line.split(separator: "|").map { $0.matches(of: #/`([^`]+)`/#).map { String($0.output.1) } }
            return (try #require(cells[0].first), cells[1].sorted())
        }
    }

    @Test func theShimsAreThoseOfTheManifest() throws {
        let section = try #require(try Page.article("Architecture").section("Shims of C"))
        let shims = try rows(of: section)
        let folders = try FileManager.default.contentsOfDirectory(atPath: Repository.file("Sources").path)
        let others = ["Cameo", "Command"]
        let own = folders.filter { name in name.hasPrefix("C") && !others.contains { name.hasPrefix($0) } }
        #expect(shims.map { $0.name }.sorted() == own.sorted())
        let manifest = try manifest()
        for shim in shims where !shim.second.isEmpty {
            let users = manifest.filter { $0.value.contains(shim.name) }.keys.sorted()
            #expect(shim.second == users, "\(shim.name)")
        }
    }

    @Test func everyTableOfAStoreIsInTheMap() throws {
        let section = try #require(try Page.article("Architecture").section("Tables"))
        let named = Set(section.matches(of: #/`([a-z_]+)`/#).map { String($0.output.1) })
        var tables: Set<String> = []
        let shared = ["Sources/CameoQueue/SharedSchema.swift"]
        for path in shared + ["CameoSQLite", "CameoPostgreSQL"].flatMap({ files(below: "Sources/\($0)/Schema") }) {
            let text = try String(contentsOf: Repository.file(path), encoding: .utf8)
            let made = text.matches(of: #/CREATE (?:UNLOGGED )?TABLE ([a-z_]+)\(/#)
            tables.formUnion(made.map { String($0.output.1) })
        }
        #expect(tables.count >= 30)
        #expect(tables.subtracting(named).isEmpty, "not in the map: \(tables.subtracting(named).sorted())")
    }

    @Test func theModulesAreTheTargetsAndTheirArrowsThoseOfTheManifest() throws {
        let section = try #require(try Page.article("Architecture").section("Modules"))
        let modules = try rows(of: section)
        let manifest = try manifest()
        #expect(manifest.count >= 19)
        #expect(modules.map { $0.name }.sorted() == manifest.keys.sorted())
        for module in modules { #expect(module.second == manifest[module.name], "\(module.name)") }
    }
}
