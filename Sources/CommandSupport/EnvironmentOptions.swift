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

// DESIGN. A misspelt option is refused, but a misspelt variable would silently have no effect. It cannot be refused,
// because a machine may have variables for programs of another version. So the worker warns about it.

/// The environment variables that begin with `CAMEO_`.
package enum CameoVariables {
    package static let prefix = "CAMEO_"

    /// Variables that every command reads: where the store, its bytes and the presets are.
    private static let ofAll = ["CAMEO_BLOBS", "CAMEO_PRESETS", "CAMEO_STORE"]

    /// Variables that the build, the tests and `deploy/` set, besides those that begin with `CAMEO_TEST_`.
    private static let ofDevelopment = [
        "CAMEO_FAULTS", "CAMEO_FLEET", "CAMEO_MODEL_SEED", "CAMEO_MODEL_SEEDS", "CAMEO_STRICT", "CAMEO_TESTS",
        "CAMEO_VIDEO", "CAMEO_WEB",
    ]

    /// Whether Kubernetes sets a variable of this name in every pod, for a service named `cameo` or `cameo-…`
    /// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
    private static func isOfAService(_ name: String) -> Bool {
        name.contains(#/_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_[A-Z]+)?)?$/#)
    }

    /// The variables with Cameo's prefix and a value that are unknown: neither the command's own `options` nor any
    /// other variable of Cameo. Sorted.
    package static func unknown(in environment: [String: String], options: [String]) -> [String] {
        let known = Set(ofAll + ofDevelopment + options)
        return environment.filter { $0.key.hasPrefix(prefix) && !$0.value.isEmpty && !known.contains($0.key) }.keys
            .filter { !$0.hasPrefix("CAMEO_TEST_") && !$0.hasPrefix("CAMEO_WEB_") && !isOfAService($0) }.sorted()
    }
}
