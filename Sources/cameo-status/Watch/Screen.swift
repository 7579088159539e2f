internal import CommandSupport
internal import Foundation
internal import Glibc

/// The terminal while something is redrawn on it: its other screen, without a cursor, and without an echo of keys.
struct Screen {
    /// Ctrl-C, Ctrl-\ and Ctrl-Z.
    static let interrupt: UInt8 = 0x03
    static let quit: UInt8 = 0x1C
    static let suspend: UInt8 = 0x1A

    /// The keyboard's modes before; nil if standard input is no terminal.
    private let modes: termios?

    var hasKeyboard: Bool { modes != nil }

    init() {
        var modes = termios()
        self.modes = tcgetattr(STDIN_FILENO, &modes) == 0 ? modes : nil
    }

    func enter() {
        if var modes {
            // A key is read at once, Ctrl-C and Ctrl-Z like any other.
            modes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
            tcsetattr(STDIN_FILENO, TCSADRAIN, &modes)
        }
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
    }

    /// Restores the terminal.
    func leave() {
        write("\u{1B}[?25h\u{1B}[?1049l")
        if var modes { tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) }
    }

    /// Shows these lines, which fit the terminal's width, instead of those before.
    func draw(_ lines: [String], rows: Int) {
        let shown = lines.count <= rows ? lines : lines.prefix(max(0, rows - 1)) + ["…"]
        // A line is cleared before it is written: behind its last column, some terminals would clear that column.
        write("\u{1B}[H" + shown.map { "\u{1B}[K" + $0 }.joined(separator: "\n") + "\u{1B}[J")
    }

    private func write(_ text: String) { Output.bytes(Data(text.utf8)) }
}
