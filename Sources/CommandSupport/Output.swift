internal import CameoModel
package import Foundation
internal import Glibc
internal import Synchronization

/// Standard output and standard error.
package enum Output {
    package static func line(_ text: String) {
        bytes(Data((text + "\n").utf8))
    }

    package static func lines(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        line(lines.joined(separator: "\n"))
    }

    /// One message of the wire contract as a line of JSON.
    package static func message(_ message: some Encodable) throws {
        line(String(decoding: try WireFormat.encode(message), as: UTF8.self))
    }

    /// Ends the program if standard output takes no more: quietly if its reader has gone, else with the reason.
    package static func bytes(_ data: Data) {
        guard let failure = write(data, to: STDOUT_FILENO) else { return }
        if failure.code != EPIPE { error("cannot write to standard output: \(failure)") }
        exit(ExitStatus.failed.rawValue)
    }

    /// A message that cannot be told, as on a full disk, is lost; what it tells of goes on. A line that stands on the
    /// terminal makes room for it, and stands below it again.
    package static func error(_ text: String) {
        standing.withLock { line in
            _ = write(Data(((line.map { _ in clear } ?? "") + text + "\n" + (line ?? "")).utf8), to: STDERR_FILENO)
        }
    }

    /// The terminal's last line, which is drawn over and over.
    private static let standing = Mutex<String?>(nil)
    private static let clear = "\r\u{1B}[K"

    /// Draws the line that stands, in place of the one before. It has to fit the terminal.
    package static func stand(_ text: String) {
        standing.withLock { line in
            line = text
            _ = write(Data((clear + text).utf8), to: STDERR_FILENO)
        }
    }

    /// Leaves the line where it is; what comes is below it.
    package static func stopStanding() {
        standing.withLock { line in
            if line != nil { _ = write(Data("\n".utf8), to: STDERR_FILENO) }
            line = nil
        }
    }

    /// Columns of the terminal on standard error.
    static var columns: Int {
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }

    package static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// By write(2): FileHandle stops the program when it cannot write.
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
