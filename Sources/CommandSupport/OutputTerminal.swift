package import CameoReport
internal import Foundation
internal import Glibc

/// The terminal on standard output.
package struct OutputTerminal: Sendable {
    package let columns: Int
    package let rows: Int
    /// The size in pixels that a picture may have; an estimate if the terminal does not tell.
    package let pixels: (width: Int, height: Int)

    package init(columns: Int, rows: Int, pixels: (width: Int, height: Int)? = nil) {
        self.columns = columns
        self.rows = rows
        // Two lines are left for a prompt.
        let size = pixels ?? (columns * 8, rows * 16)
        self.pixels = (max(1, size.width), max(1, size.height * max(1, rows - 2) / max(1, rows)))
    }

    /// The size of a picture of half blocks, two pixels in a character.
    package var halfBlocks: (width: Int, height: Int) { (columns, 2 * max(1, rows - 2)) }

    /// The terminal as it is now; nil if standard output is none.
    package static var current: OutputTerminal? {
        guard Output.outputIsTerminal else { return nil }
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        guard isKnown else { return Self(columns: 80, rows: 24) }
        let knowsPixels = size.ws_xpixel > 0 && size.ws_ypixel > 0
        return Self(
            columns: Int(size.ws_col),
            rows: Int(size.ws_row),
            pixels: knowsPixels ? (Int(size.ws_xpixel), Int(size.ws_ypixel)) : nil
        )
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
