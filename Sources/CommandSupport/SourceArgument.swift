internal import CameoModel
internal import Foundation

/// Turns what a person types into sources: paths become `file:` URIs, patterns and `-` become many. What is there as a
/// path is a path; what then is a URI, or a picture in base64, is itself.
package enum SourceArgument {
    package static func expand(_ arguments: [String]) throws -> [String] {
        guard !arguments.contains(where: { $0.contains("\u{FFFD}") }) else {
            throw CommandFailure("a SOURCE is not UTF-8; name it by a file: URI with its bytes percent-encoded", .usage)
        }
        guard !arguments.contains("") else {
            throw CommandFailure("a SOURCE is empty; it must be a path, a pattern or a URI", .usage)
        }
        var sources: [String] = []
        for argument in arguments {
            if argument == "-" {
                sources += try readList()
            } else if isSource(argument) {
                sources.append(argument)
            } else {
                sources += try paths(argument).map(fileURI)
            }
        }
        return sources
    }

    /// A path or a URI that stands for one picture; neither a pattern nor a list.
    package static func one(_ argument: String, _ option: String) throws(CommandFailure) -> String {
        guard !argument.isEmpty, !argument.contains("\u{FFFD}") else {
            throw CommandFailure("\(option): must be a path or URI in UTF-8", .usage)
        }
        return isSource(argument) ? argument : fileURI(argument)
    }

    private static func readList() throws -> [String] {
        let data = FileHandle.standardInput.readDataToEndOfFile()
        guard let text = String(data: data, encoding: .utf8) else {
            throw CommandFailure("the list on standard input is not UTF-8", .usage)
        }
        return text.split(whereSeparator: \.isNewline).map { line in
            isSource(String(line)) ? String(line) : fileURI(String(line))
        }
    }

    private static func isSource(_ text: String) -> Bool {
        (hasScheme(text) || PlainBase64.isMeant(by: text)) && !FileManager.default.fileExists(atPath: text)
    }

    /// RFC 3986, section 3.1; a single letter is no scheme that Cameo knows.
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":") else { return false }
        let scheme = text[..<colon]
        guard let first = scheme.first, first.isASCII, first.isLetter, scheme.count > 1 else { return false }
        return scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    /// A path that exists is itself, whatever characters it has; one that does not may be a pattern.
    private static func paths(_ argument: String) throws -> [String] {
        let isPattern = argument.contains(where: { "*?[".contains($0) })
        guard isPattern, !FileManager.default.fileExists(atPath: argument) else { return [argument] }
        var result = glob_t()
        defer { globfree(&result) }
        guard glob(argument, 0, nil, &result) == 0 else {
            throw CommandFailure("no file matches \(argument)", .usage)
        }
        return (0..<Int(result.gl_pathc)).compactMap { index in
            result.gl_pathv[index].map { String(cString: $0) }
        }
    }

    /// Absolute, with `.` and `..` resolved and all but RFC 3986's unreserved characters and `/` percent-encoded.
    private static func fileURI(_ path: String) -> String {
        let absolute = FilePaths.absolute(path)
        let allowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
        return "file://" + (absolute.addingPercentEncoding(withAllowedCharacters: allowed) ?? absolute)
    }
}
