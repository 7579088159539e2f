internal import CameoModel
internal import Foundation

/// What a person typed for a picture, and the source that it means. What is there as a path is a path; what then is a
/// URI, or a picture in base64, is itself; all else is a path that is not there.
///
/// Names of files are bytes. One that is no UTF-8 becomes a `file:` URI like any other, with its bytes percent-encoded.
package struct SourceArgument: Sendable {
    /// A URI, or base64.
    package let source: String
    private let typed: String
    /// In a list.
    private let place: (unit: String, number: Int)?

    /// As it was typed, with its place in a list, for messages.
    package var name: String {
        let text = InlinePicture.isIn(source) ? SourceName.of(source) : typed
        return place.map { "\($0.unit) \($0.number) of the list, \(text)" } ?? text
    }

    private init(_ bytes: [UInt8], at place: (unit: String, number: Int)? = nil) {
        self.place = place
        if let text = String(validating: bytes, as: UTF8.self), Self.isSource(text, bytes) {
            (typed, source) = (text, text)
        } else {
            (typed, source) = (FilePaths.readable(bytes), FileURI(path: bytes).text)
        }
    }

    /// Those of a command line: `-` stands for the list on standard input, whose entries have the separator between them,
    /// and a pattern for what matches it. What means no source at all is a ``CommandFailure``.
    package static func all(
        _ arguments: [String],
        separator: ListSeparator
    ) throws(CommandFailure) -> [SourceArgument] {
        var sources: [SourceArgument] = []
        for argument in arguments {
            guard !argument.isEmpty else {
                throw CommandFailure("a SOURCE is empty; it must be a path, a pattern or a URI", .usage)
            }
            if argument == "-" {
                sources += try list(separator)
            } else {
                sources += try matches(argument).map { SourceArgument($0) }
            }
        }
        return sources
    }

    /// A path or a URI that stands for one picture; neither a pattern nor a list.
    package static func one(_ argument: String) -> SourceArgument { SourceArgument(Array(argument.utf8)) }

    /// A file by its absolute path.
    package static func file(_ path: [UInt8]) -> SourceArgument { SourceArgument(path) }

    /// Every entry is itself: none is an option, a pattern or another list.
    private static func list(_ separator: ListSeparator) throws(CommandFailure) -> [SourceArgument] {
        let data: Data
        do throws(Errno) {
            data = try InputFile.standardInput()
        } catch {
            throw CommandFailure("the list on standard input cannot be read: \(error)", .usage)
        }
        var sources: [SourceArgument] = []
        for (index, entry) in data.split(separator: separator.byte, omittingEmptySubsequences: false).enumerated() {
            let bytes = separator == .newline && entry.last == UInt8(ascii: "\r") ? entry.dropLast() : entry
            guard !bytes.isEmpty else { continue }
            sources.append(SourceArgument(Array(bytes), at: (separator.unit, index + 1)))
        }
        return sources
    }

    private static func isSource(_ text: String, _ bytes: [UInt8]) -> Bool {
        guard let scheme = URIScheme.of(text) else { return PlainBase64.matches(text) && !isThere(bytes) }
        // A single letter is no scheme that Cameo knows.
        return scheme.utf8.count > 1 && !isThere(bytes)
    }

    private static func isThere(_ path: [UInt8]) -> Bool { access(path.map(CChar.init(bitPattern:)) + [0], F_OK) == 0 }

    /// A path that exists is itself, whatever characters it has; one that does not may be a pattern.
    private static func matches(_ argument: String) throws(CommandFailure) -> [[UInt8]] {
        let bytes = Array(argument.utf8)
        let isPattern = argument.contains(where: { "*?[".contains($0) })
        guard isPattern, !isSource(argument, bytes), !isThere(bytes) else { return [bytes] }
        var result = glob_t()
        defer { globfree(&result) }
        guard glob(argument, 0, nil, &result) == 0 else {
            throw CommandFailure("no file matches \(argument)", .usage)
        }
        return (0..<Int(result.gl_pathc)).compactMap { index in
            result.gl_pathv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }
}
