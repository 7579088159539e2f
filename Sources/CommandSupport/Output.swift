internal import CameoModel
package import Foundation
internal import Glibc

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

    /// A message that cannot be told, as on a full disk, is lost; what it tells of goes on.
    package static func error(_ text: String) {
        _ = write(Data((text + "\n").utf8), to: STDERR_FILENO)
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
