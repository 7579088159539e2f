internal import CameoModel
internal import Foundation

/// A file of environment variables in the format of systemd's EnvironmentFile: lines of `NAME=value`, with optional
/// quotes around the value; empty lines and lines that begin with `#` or `;` are ignored.
enum SettingsFile {
    /// Adds the variables of the settings file to the environment. The option `--settings` names the file, else its
    /// variable. Only the variable's file may be missing: a service unit names it for instances that want one.
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

    /// The variables in the file whose names begin with the prefix.
    private static func variables(at path: String, prefix: String) throws -> [String: String] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure(
                "--settings \(path): there is no such file, or it is not readable text",
                .usage
            )
        }
        var variables: [String: String] = [:]
        for (index, line) in text.lines.enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#"), !line.hasPrefix(";") else { continue }
            guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
                throw CommandFailure("--settings \(path): line \(index + 1) is not NAME=value", .usage)
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
