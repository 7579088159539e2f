/// What a terminal says when it is asked what it can show.
package struct TerminalAnswer: Sendable {
    /// Asks for the number of colours that sixels may have (XTSMGRAPHICS), which few terminals tell, and then for the
    /// primary device attributes, which every terminal does (https://invisible-island.net/xterm/ctlseqs/ctlseqs.html).
    package static let question = "\u{1B}[?1;1;0S\u{1B}[c"

    /// What was read so far.
    package var text = ""

    package init() {}

    /// Whether nothing more is to come.
    package var isComplete: Bool { attributes != nil }

    /// Whether the terminal shows sixels: attribute 4, behind the number that says what kind of terminal it is.
    package var showsSixels: Bool { attributes?.dropFirst().contains("4") ?? false }

    /// How many colours sixels may have.
    package var colors: Int {
        let number = text.firstMatch(of: #/\u{1B}\[\?1;0;([0-9]+)S/#).flatMap { Int($0.output.1) } ?? 0
        return number > 1 ? number : Sixel.colors
    }

    private var attributes: [Substring]? {
        text.firstMatch(of: #/\u{1B}\[\?([0-9;]*)c/#)?.output.1.split(separator: ";")
    }
}
