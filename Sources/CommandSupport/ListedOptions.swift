internal import ArgumentParser
internal import Foundation

/// The options of a command and its subcommands as the parser lists them, so that no second list can become outdated.
struct ListedOptions {
    enum Kind { case flag, single, repeatable }

    struct Option {
        /// The names with their dashes: `--grace`, `-o`.
        let names: [String]
        let kind: Kind
    }

    let options: [Option]

    init(of type: (some ParsableCommand).Type) throws {
        options = try JSONDecoder().decode(HelpDump.self, from: Data(Self.dump(of: type).utf8)).command.all
    }

    /// The parser hands out the list as it does help: by an error.
    private static func dump(of type: (some ParsableCommand).Type) throws -> String {
        do {
            _ = try type.parseAsRoot(["--experimental-dump-help"])
        } catch {
            return type.fullMessage(for: error)
        }
        return ""
    }

    func takesValue(_ word: String) -> Bool {
        options.contains { $0.kind != .flag && $0.names.contains(word) }
    }

    private struct HelpDump: Decodable {
        let command: Command
    }

    private struct Command: Decodable {
        let arguments: [Argument]?
        let subcommands: [Command]?

        var all: [Option] {
            (arguments ?? []).compactMap(\.option) + (subcommands ?? []).flatMap(\.all)
        }
    }

    private struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let kind: String
        let isRepeating: Bool
        let names: [Name]?

        var option: Option? {
            guard let names, !names.isEmpty else { return nil }
            return Option(
                names: names.map { ($0.kind == "long" ? "--" : "-") + $0.name },
                kind: kind == "flag" ? .flag : isRepeating ? .repeatable : .single
            )
        }
    }
}
