internal import CameoModel
package import CameoSystem
package import Foundation

/// A picture as typed on the command line, resolved to its source. An existing path is a path; otherwise a URI or a
/// picture in base64 is itself, and anything else is the path of a missing file.
///
/// File names are bytes: one that is not UTF-8 becomes a percent-encoded `file:` URI like any other.
package struct SourceArgument: Sendable {
    /// The URI or base64 text.
    package let source: String
    /// What was typed; nil: the source.
    private let typed: String?
    /// The position in a list.
    private let place: (separator: ListSeparator, number: Int32)?

    /// The text as typed, with its position in a list, for messages.
    package var name: String {
        let text = InlinePicture.isIn(source) ? SourceName.of(source) : typed ?? source
        return place.map { "\($0.separator.unit) \($0.number) of the list, \(text)" } ?? text
    }

    /// A source as it is typed, or a file by its absolute path; patterns and lists are not expanded.
    package init(_ bytes: [UInt8], at place: (separator: ListSeparator, number: Int32)? = nil) {
        self.place = place
        if let text = String(validating: bytes, as: UTF8.self), Self.isSource(text, bytes) {
            (typed, source) = (nil, text)
        } else {
            (typed, source) = (FilePaths.readable(bytes), FileURI(path: bytes).text)
        }
    }

    /// What a source begins with, as it is typed: a path stands for the URI of a file.
    package static func prefix(_ text: String) -> String {
        text.hasPrefix("/") ? "file://" + PercentEncoding.encoded(text.utf8, keeping: [UInt8(ascii: "/")]) : text
    }

    /// The sources of a command line. `-` is replaced by the list on standard input, whose entries end with the
    /// separator, and a pattern by the files that match it. Throws if an argument yields no source.
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

    /// The entries of the list, taken literally: none is an option, a pattern or another list.
    private static func list(_ separator: ListSeparator) throws(CommandFailure) -> [SourceArgument] {
        let data = try CommandFailure.naming("the list on standard input cannot be read") { () throws(Errno) in
            try InputFile.standardInput(atMost: 1 << 30)
        }
        var (sources, rest, number): ([SourceArgument], Data, Int32) = ([], data[...], 0)
        while !rest.isEmpty {
            let entry = rest.prefix { $0 != separator.byte }
            rest = rest[entry.endIndex...].dropFirst()
            number += 1
            let bytes = separator == .newline && entry.last == UInt8(ascii: "\r") ? entry.dropLast() : entry
            if !bytes.isEmpty { sources.append(SourceArgument(Array(bytes), at: (separator, number))) }
        }
        return sources
    }

    private static func isSource(_ text: String, _ bytes: [UInt8]) -> Bool {
        guard let scheme = URIScheme.of(text) else { return PlainBase64.matches(text) && !isThere(bytes) }
        // No scheme that Cameo knows is a single letter.
        return scheme.utf8.count > 1 && !isThere(bytes)
    }

    private static func isThere(_ path: [UInt8]) -> Bool { access(path.map(CChar.init(bitPattern:)) + [0], F_OK) == 0 }

    /// The argument's matches. An existing path is itself, whatever characters it has; a missing one may be a pattern.
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

/// Finds mistakes in a source before anything is enqueued. What this process cannot see, such as a file that only the
/// worker's user may access, is left to the worker.
package enum SourceFault {
    /// A predicate that completes a sentence beginning with the source's name; nil if the source may work.
    package static func of(_ source: String, missing: MissingFiles) -> String? {
        if let scheme = SourceScheme(of: source) { return scheme == .file ? ofFile(source, missing) : nil }
        if let scheme = URIScheme.of(source) {
            let known = SourceScheme.allCases.map { "\($0.rawValue):" }
            let list = known.dropLast().joined(separator: ", ") + " and " + (known.last ?? "")
            return "uses the unknown scheme \(scheme):; known are \(list)"
        }
        return PlainBase64.matches(source) ? nil : "has no scheme; write a local file as file:///folder/picture.jpg"
    }

    private static func ofFile(_ source: String, _ missing: MissingFiles) -> String? {
        let path: [UInt8]
        do throws(InvalidRequest) {
            path = try FileURI(parsing: source).path
        } catch {
            return error.reason
        }
        var status = stat()
        guard stat(path.map(CChar.init(bitPattern:)) + [0], &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR, missing == .refused else { return nil }
            return "there is no such file (--allow-missing enqueues it anyway)"
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return nil
        case S_IFDIR: return "is a folder; name a picture in it, or add -r for all pictures in it"
        default: return "is not a regular file"
        }
    }
}

/// Whether missing files are accepted as sources: they may appear later, or exist on the worker's machine only.
package enum MissingFiles: Sendable {
    case refused, allowed
}

/// Reads a file of any kind to its end: a regular file, `/dev/stdin`, or a shell's `<(…)` pipe, which has no size and
/// cannot be read twice. What has no end (`/dev/zero`) is "File too large".
package enum InputFile {
    private static let chunk = 65_536
    /// More than any picture, request or settings may have.
    private static let usualLimit = 128 << 20

    /// All bytes of standard input.
    package static func standardInput(atMost limit: Int = usualLimit) throws(Errno) -> Data {
        try read(STDIN_FILENO, atMost: limit)
    }

    /// All bytes of the file with this path; `-` is standard input.
    package static func read(_ path: String) throws(Errno) -> Data {
        guard path != "-" else { return try standardInput() }
        let file = try OpenFile(opened: open(path, O_RDONLY | O_CLOEXEC))
        return try read(file.descriptor, atMost: usualLimit)
    }

    /// All bytes of the file that an option names; `origin` is the option with the file's name.
    package static func read(_ path: String, of origin: String) throws(CommandFailure) -> Data {
        try CommandFailure.naming("\(origin): cannot be read") { () throws(Errno) in try read(path) }
    }

    private static func read(_ descriptor: Int32, atMost limit: Int) throws(Errno) -> Data {
        var data = Data()
        while case let part = try part(of: descriptor, atMost: chunk), !part.isEmpty {
            guard data.count + part.count <= limit else { throw Errno(EFBIG) }
            data += part
        }
        return data
    }

    /// The next bytes of an open file; none at its end.
    package static func part(of descriptor: Int32, atMost count: Int) throws(Errno) -> Data {
        var data = Data(count: count)
        while true {
            let length = data.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if length < 0, errno == EINTR { continue }
            guard length >= 0 else { throw Errno() }
            return data.prefix(length)
        }
    }
}
