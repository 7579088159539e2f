internal import Foundation

/// A file of environment variables, as systemd's EnvironmentFile: a name, `=` and a value on each line, with or without
/// quotes around the value; lines that are empty or begin with `#` or `;` say nothing.
enum SettingsFile {
    /// What the option `--settings`, or else its variable, names.
    static func path(_ arguments: [String], _ environment: [String: String], prefix: String) -> String? {
        if let index = arguments.firstIndex(of: "--settings"), index + 1 < arguments.count {
            return arguments[index + 1]
        }
        let name = "--settings="
        let path = arguments.first { $0.hasPrefix(name) }?.dropFirst(name.count)
        return path.map(String.init) ?? environment["\(prefix)SETTINGS"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Those whose names begin with the prefix. A file that is not there has none: services have theirs if they want.
    static func variables(at path: String, prefix: String) throws -> [String: String] {
        guard FileManager.default.fileExists(atPath: path) else { return [:] }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure("--settings \(path): cannot be read", .usage)
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
