internal import CameoModel
package import CameoReport
internal import CameoSystem
package import Foundation
internal import Glibc
internal import Synchronization

/// Writes to standard output and standard error.
package enum Output {
    package static func line(_ text: String) {
        bytes(Data((text + "\n").utf8))
    }

    package static func lines(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        line(lines.joined(separator: "\n"))
    }

    /// Prints one message of the wire contract as a line of JSON.
    package static func message(_ message: some Encodable) throws {
        line(String(decoding: try WireFormat.encode(message), as: UTF8.self))
    }

    /// Prints a message of the wire contract as JSON, or as lines for people.
    package static func answer(_ message: some Encodable, asJSON: Bool, _ text: @autoclosure () -> [String]) throws {
        if asJSON { try self.message(message) } else { lines(text()) }
    }

    /// Writes to standard output. If that fails, ends the program: silently if the reader is gone, else with the
    /// reason.
    package static func bytes(_ data: Data) {
        guard let failure = write(data, to: STDOUT_FILENO) else { return }
        if failure.code != EPIPE { error("cannot write to standard output: \(failure)") }
        drain()
        exit(ExitStatus.failed.rawValue)
    }

    private static let unread = Mutex<UnreadOutput?>(nil)

    /// From now on nothing waits for a reader of standard error, unless no thread can be started. `dropped` says how many
    /// texts were lost meanwhile.
    package static func neverWaitForReaders(dropped: @escaping @Sendable (Int) -> Void) {
        unread.withLock { unread in
            if unread == nil { unread = try? UnreadOutput(to: STDERR_FILENO, dropped: dropped) }
        }
    }

    /// Waits for what standard error has yet to get, for a second at most. For the end of the program.
    package static func drain() { unread.withLock { $0 }?.drain() }

    private static func errorBytes(_ text: String) {
        let data = Data(text.utf8)
        if let unread = unread.withLock({ $0 }) { unread.write(data) } else { _ = write(data, to: STDERR_FILENO) }
    }

    /// Prints a message to standard error. If it cannot be written (full disk), it is lost and the program goes on. A
    /// status line on the terminal is redrawn below it.
    package static func error(_ text: String) {
        statusLine.withLock { line in
            errorBytes((line.map { _ in clear } ?? "") + text + "\n" + (line ?? ""))
        }
    }

    /// The terminal's last line, redrawn in place.
    private static let statusLine = Mutex<String?>(nil)
    private static let clear = "\r\u{1B}[K"

    /// Draws the status line in place of the previous one. It must fit the terminal.
    package static func drawStatusLine(_ text: String) {
        statusLine.withLock { line in
            line = text
            errorBytes(clear + text)
        }
    }

    /// Leaves the status line where it is; later output goes below it.
    package static func endStatusLine() {
        statusLine.withLock { line in
            if line != nil { errorBytes("\n") }
            line = nil
        }
    }

    /// The columns of the terminal on standard error.
    static var columns: Int { size(of: STDERR_FILENO).map { Int($0.ws_col) } ?? 80 }

    /// The size of the terminal with this descriptor; nil if it is not known.
    fileprivate static func size(of descriptor: Int32) -> winsize? {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? size : nil
    }

    package static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes with write(2), because FileHandle aborts the program when it cannot write.
    static func write(_ data: Data, to descriptor: Int32) -> Errno? {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, 1_000)
            } else if errno != EINTR {
                return Errno()
            }
        }
        return nil
    }
}

/// The terminal on standard output.
package struct OutputTerminal: Sendable {
    package let columns: Int
    package let rows: Int

    /// The terminal as it is now; nil if standard output is none.
    package static var current: OutputTerminal? {
        guard Output.outputIsTerminal else { return nil }
        guard let size = Output.size(of: STDOUT_FILENO), size.ws_row > 0 else { return Self(columns: 80, rows: 24) }
        return Self(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Whether the terminal can move its cursor and show colours.
    package static var obeysEscapes: Bool {
        let type = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return Output.outputIsTerminal && !type.isEmpty && type != "dumb"
    }

    /// Whether the user lets programs use colours (https://no-color.org).
    package static var allowsColor: Bool { (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty }

    package static var style: TextStyle { obeysEscapes && allowsColor ? .colored : .plain }
}

/// Makes foreign text safe to show on a terminal: sources and messages may contain escape sequences.
package enum TerminalText {
    /// The text with control characters, and characters that reorder or hide text, shown as `\u{…}`.
    package static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isDangerous) else { return text }
        return text.unicodeScalars
            .map { isDangerous($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
    }

    /// The text in at most `limit` characters; an ellipsis marks the cut.
    package static func escaped(_ text: String, limit: Int) -> String {
        let safe = escaped(text)
        return safe.count <= limit ? safe : safe.prefix(limit - 1) + "…"
    }

    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isText && scalar.properties.generalCategory != .unassigned
    }
}
