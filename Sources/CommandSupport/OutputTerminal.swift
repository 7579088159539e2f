package import CameoReport
internal import Foundation
internal import Glibc

/// The terminal on standard output.
package struct OutputTerminal: Sendable {
    package let columns: Int
    package let rows: Int

    /// The terminal as it is now; nil if standard output is none.
    package static var current: OutputTerminal? {
        guard Output.outputIsTerminal else { return nil }
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return isKnown ? Self(columns: Int(size.ws_col), rows: Int(size.ws_row)) : Self(columns: 80, rows: 24)
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
