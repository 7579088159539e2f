import ArgumentParser
import Foundation

@testable import CommandSupport

/// A command's help, as its parser dumps it.
struct CommandHelp: Decodable {
    struct Option {
        /// The name with its dashes: `--grace`.
        let name: String
        /// The name of its value; nil for a flag.
        let valueName: String?
        /// Its section's heading, if it has one of its own.
        let section: String?
    }

    let commandName: String
    private let arguments: [Argument]?
    private let subcommands: [CommandHelp]?

    private struct Argument: Decodable {
        struct Name: Decodable {
            let name: String
        }

        let kind: String
        let preferredName: Name?
        let valueName: String?
        let sectionTitle: String?
    }

    private struct Dump: Decodable {
        let command: CommandHelp
    }

    var isLeaf: Bool { subcommands?.isEmpty ?? true }

    var options: [Option] {
        (arguments ?? []).filter { $0.kind != "positional" }.compactMap { argument in
            argument.preferredName.map {
                Option(
                    name: "--\($0.name)",
                    valueName: argument.kind == "option" ? argument.valueName : nil,
                    section: argument.sectionTitle
                )
            }
        }
    }

    /// The command and its subcommands, each with the words that invoke it.
    static func all(of command: String) throws -> [(words: [String], help: CommandHelp)] {
        let root = try TypedLine(command).root
        let dump = try JSONDecoder().decode(Dump.self, from: Data(ListedOptions.dump(of: root).utf8))
        // Of a command above it.
        return dump.command.subcommands?.first?.all(behind: []) ?? []
    }

    /// The page that `--help` shows for the command that these words invoke.
    static func page(of words: [String]) async throws -> String {
        let line = try TypedLine(words.joined(separator: " "), ["--help"])
        do {
            // The parser's own command, which throws the page.
            var help = try await line.parsed()
            try help.run()
        } catch {
            return line.root.fullMessage(for: error)
        }
        return ""
    }

    private func all(behind words: [String]) -> [(words: [String], help: CommandHelp)] {
        let words = words + [commandName]
        let parts = (subcommands ?? []).filter { $0.commandName != "help" }
        return [(words, self)] + parts.flatMap { $0.all(behind: words) }
    }
}
