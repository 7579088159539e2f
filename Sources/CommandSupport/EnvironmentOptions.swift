package import ArgumentParser
internal import Foundation

/// Sets options from environment variables, for service managers and containers.
package struct EnvironmentOptions {
    /// The arguments to prepend for options that the environment sets and the command line does not.
    package private(set) var arguments: [String] = []
    /// The variables by the options that they set.
    private var variables: [String: String] = [:]

    /// Sets no option.
    package init() {}

    /// Reads the options from variables: `CAMEO_FETCH_CONCURRENCY=4` becomes `--fetch-concurrency 4`. A repeatable
    /// option takes comma-separated values; a flag is set by `1`, `true`, `yes` or `on` and ignored by their opposites.
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

    /// The message with options replaced by the variables that set them.
    func named(in message: String) -> String {
        message.replacing(#/--[a-z][a-z-]*/#) { match in variables[String(match.output)] ?? String(match.output) }
    }

    /// The names of a command's options as variables.
    package static func variables(of type: (some ParsableCommand).Type, prefix: String) throws -> [String] {
        try ListedOptions(of: type).options.compactMap { option in
            option.names.first { $0.hasPrefix("--") }.map { variable(String($0.dropFirst(2)), prefix) }
        }
    }

    private static func variable(_ option: String, _ prefix: String) -> String {
        prefix + option.uppercased().replacingOccurrences(of: "-", with: "_")
    }
}
