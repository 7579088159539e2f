/// Colours for a terminal, or none. Text is laid out before it is coloured, because the colours' escape sequences take no
/// columns.
package struct TextStyle: Sendable {
    private let isColored: Bool

    package static let plain = TextStyle(isColored: false)
    package static let colored = TextStyle(isColored: true)

    /// A heading.
    func heading(_ text: String) -> String { wrapped(text, "1") }
    /// Something that an operator should look at.
    func alarm(_ text: String) -> String { wrapped(text, "31") }
    /// Something of less importance.
    func faint(_ text: String) -> String { wrapped(text, "2") }

    private func wrapped(_ text: String, _ code: String) -> String {
        isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
