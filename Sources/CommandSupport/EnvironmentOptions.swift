package import ArgumentParser
internal import Foundation

/// Lets every option come from the environment, as service managers and containers like it.
package enum EnvironmentOptions {
    /// What to put in front of the arguments for those options that the environment sets and the command line does not.
    /// `CAMEO_FETCH_CONCURRENCY=4` becomes `--fetch-concurrency 4`; a repeatable option takes values with commas between
    /// them; a flag is set by `1`, `true`, `yes` or `on` and left alone by their opposites.
    /// The command must have no subcommands and no positional arguments.
    package static func arguments(
        for type: (some ParsableCommand).Type,
        prefix: String,
        environment: [String: String],
        given: [String]
    ) throws -> [String] {
        var result: [String] = []
        for option in try options(of: type) {
            let name = "--\(option.name)"
            guard let value = environment[variable(option.name, prefix)], !value.isEmpty,
                !given.contains(where: { $0 == name || $0.hasPrefix("\(name)=") })
            else { continue }
            switch option.kind {
            case .flag:
                switch value.lowercased() {
                case "1", "true", "yes", "on": result.append(name)
                case "0", "false", "no", "off": break
                default: result.append("\(name)=\(value)")  // refused by the parser, with its name
                }
            case .single: result.append("\(name)=\(value)")
            case .repeatable: result += value.split(separator: ",").map { "\(name)=\($0)" }
            }
        }
        return result
    }

    /// What the command's options are called in the environment.
    package static func variables(of type: (some ParsableCommand).Type, prefix: String) throws -> [String] {
        try options(of: type).map { variable($0.name, prefix) }
    }

    private static func variable(_ option: String, _ prefix: String) -> String {
        prefix + option.uppercased().replacingOccurrences(of: "-", with: "_")
    }

    private enum Kind { case flag, single, repeatable }

    /// The options as the parser itself lists them (`--experimental-dump-help`), so that no second list can go stale.
    private static func options(of type: (some ParsableCommand).Type) throws -> [(name: String, kind: Kind)] {
        let help = try JSONDecoder().decode(HelpDump.self, from: Data(type._dumpHelp().utf8))
        return help.command.arguments.compactMap { argument in
            guard let name = argument.preferredName?.name, argument.preferredName?.kind == "long",
                !["help", "version", "store"].contains(name)
            else { return nil }
            if argument.kind == "flag" { return (name, .flag) }
            return (name, argument.isRepeating ? .repeatable : .single)
        }
    }

    private struct HelpDump: Decodable {
        let command: Command

        struct Command: Decodable {
            let arguments: [Argument]
        }

        struct Argument: Decodable {
            let kind: String
            let isRepeating: Bool
            let preferredName: Name?
        }

        struct Name: Decodable {
            let kind: String
            let name: String
        }
    }
}
