internal import CameoModel
package import Foundation

/// Standard output and standard error.
package enum Output {
    package static func line(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    package static func lines(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        line(lines.joined(separator: "\n"))
    }

    /// One message of the wire contract as a line of JSON.
    package static func message(_ message: some Encodable) throws {
        line(String(decoding: try WireFormat.encode(message), as: UTF8.self))
    }

    package static func bytes(_ data: Data) {
        FileHandle.standardOutput.write(data)
    }

    package static func error(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    package static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}
