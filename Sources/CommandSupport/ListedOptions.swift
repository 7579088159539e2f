package import ArgumentParser
internal import Foundation

/// The options of a command and its subcommands as the parser lists them, so that no second list can become outdated, and
/// those that have gone.
struct ListedOptions {
    enum Kind { case flag, single, repeatable }

    struct Option {
        /// The names with their dashes: `--grace`, `-o`.
        let names: [String]
        let kind: Kind
    }

    let options: [Option]

    init(of type: (some ParsableCommand).Type) throws {
        let listed = try JSONDecoder().decode(HelpDump.self, from: Data(Self.dump(of: type).utf8)).command.all
        options =
            listed
            + FormerOptions.of(type).map { name, now in
                Option(names: [name], kind: now.contains("*") ? .single : .flag)
            }
    }

    /// The parser hands out the list as it does help: by an error.
    static func dump<Root: ParsableCommand>(of type: Root.Type) throws -> String {
        do {
            _ = try Parent<Root>.parseAsRoot(["--experimental-dump-help"])
        } catch {
            return type.fullMessage(for: error)
        }
        return ""
    }

    /// A command above another. A debug build of the parser refuses to parse one with asynchronous completions here.
    private struct Parent<Root: ParsableCommand>: ParsableCommand {
        static var configuration: CommandConfiguration { CommandConfiguration(subcommands: [Root.self]) }
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

/// The format of lists of sources, for every command that reads them.
package struct ListOptions: ParsableArguments {
    @Flag(
        name: [.customShort("0"), .customLong("null")],
        help: "Read a list from standard input whose entries end with NUL (find -print0), not with a newline."
    )
    var null = false

    package init() {}

    package var separator: ListSeparator { null ? .nul : .newline }

    /// The arguments; `-0` alone implies a list.
    package func sources(_ arguments: [String]) throws -> [String] {
        guard null, !arguments.contains("-") else { return arguments }
        guard arguments.isEmpty else { throw ValidationError("-0 needs a list: give - as a SOURCE") }
        return ["-"]
    }
}

/// The separator of entries in a list on standard input.
package enum ListSeparator: Sendable {
    case newline, nul

    var byte: UInt8 { self == .nul ? 0 : 0x0A }

    /// The name of an entry in messages.
    var unit: String { self == .nul ? "entry" : "line" }
}

extension String {
    /// The text as the help of an option that takes a value, which it calls by this name.
    package func taking(_ name: String) -> ArgumentHelp { ArgumentHelp(self, valueName: name) }
}
