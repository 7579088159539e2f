package import ArgumentParser
internal import Foundation

/// Lets every option come from the environment, as service managers and containers like it.
package struct EnvironmentOptions {
    /// What to put in front of the arguments for those options that the environment sets and the command line does not.
    package private(set) var arguments: [String] = []
    /// Variables by the options that they set.
    private var variables: [String: String] = [:]

    /// What is set by no variable.
    package init() {}

    /// `CAMEO_FETCH_CONCURRENCY=4` becomes `--fetch-concurrency 4`; a repeatable option takes values with commas between
    /// them; a flag is set by `1`, `true`, `yes` or `on` and left alone by their opposites.
    /// The command must have no subcommands and no positional arguments.
    package init(
        for type: (some ParsableCommand).Type,
        prefix: String,
        environment: [String: String],
        given: [String]
    ) throws {
        for option in try ListedOptions(of: type).options {
            guard let name = option.names.first(where: { $0.hasPrefix("--") }),
                !["--help", "--version", "--store"].contains(name)
            else { continue }
            let variable = Self.variable(String(name.dropFirst(2)), prefix)
            guard let value = environment[variable], !value.isEmpty,
                !given.contains(where: { $0 == name || $0.hasPrefix("\(name)=") })
            else { continue }
            variables[name] = variable
            switch option.kind {
            case .flag:
                switch value.lowercased() {
                case "1", "true", "yes", "on": arguments.append(name)
                case "0", "false", "no", "off": break
                default: arguments.append("\(name)=\(value)")  // refused by the parser, with its name
                }
            case .single: arguments.append("\(name)=\(value)")
            case .repeatable: arguments += value.split(separator: ",").map { "\(name)=\($0)" }
            }
        }
    }

    /// A message about what was set, by the names under which it was.
    func named(in message: String) -> String {
        message.replacing(#/--[a-z][a-z-]*/#) { match in variables[String(match.output)] ?? String(match.output) }
    }

    /// What the command's options are called in the environment.
    package static func variables(of type: (some ParsableCommand).Type, prefix: String) throws -> [String] {
        try ListedOptions(of: type).options.compactMap { option in
            option.names.first { $0.hasPrefix("--") }.map { variable(String($0.dropFirst(2)), prefix) }
        }
    }

    private static func variable(_ option: String, _ prefix: String) -> String {
        prefix + option.uppercased().replacingOccurrences(of: "-", with: "_")
    }
}
