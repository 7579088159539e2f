internal import Foundation

/// A file of environment variables, as systemd's EnvironmentFile: a name, `=` and a value on each line, with or without
/// quotes around the value; lines that are empty or begin with `#` or `;` say nothing.
enum SettingsFile {
    /// The environment with what the file sets that the option `--settings`, or else its variable, names. Only the
    /// variable's may be missing: a unit names it for whichever instances want one.
    static func environment(
        _ environment: [String: String],
        for arguments: [String],
        prefix: String
    ) throws -> [String: String] {
        if let path = path(arguments) {
            return environment.merging(try variables(at: path, prefix: prefix)) { $1 }
        }
        guard let path = environment["\(prefix)SETTINGS"], FileManager.default.fileExists(atPath: path) else {
            return environment
        }
        return environment.merging(try variables(at: path, prefix: prefix)) { $1 }
    }

    private static func path(_ arguments: [String]) -> String? {
        if let index = arguments.firstIndex(of: "--settings"), index + 1 < arguments.count {
            return arguments[index + 1]
        }
        let name = "--settings="
        return arguments.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }

    /// Those whose names begin with the prefix.
    private static func variables(at path: String, prefix: String) throws -> [String: String] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure(
                "--settings \(path): there is no such file, or none that is text and may be read",
                .usage
            )
        }
        var variables: [String: String] = [:]
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#"), !line.hasPrefix(";") else { continue }
            guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
                throw CommandFailure("--settings \(path): line \(index + 1) is no NAME=value", .usage)
            }
            let name = String(line[..<equals])
            var value = line[line.index(after: equals)...]
            for quote in ["\"", "'"] where value.count >= 2 && value.hasPrefix(quote) && value.hasSuffix(quote) {
                value = value.dropFirst().dropLast()
            }
            if name.hasPrefix(prefix) { variables[name] = String(value) }
        }
        return variables
    }
}
