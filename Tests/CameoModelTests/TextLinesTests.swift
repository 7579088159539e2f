import CameoModel
import Testing

@Suite(.timeLimit(.minutes(10)))
struct TextLinesTests {
    @Test(arguments: [
        ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b", ""]), ("\u{FEFF}a\r\n\nb", ["a", "", "b"]), ("", [""]),
        ("# a\r\n# b\nc", ["# a", "# b", "c"]), ("a\rb\u{2028}c", ["a\rb\u{2028}c"]),
    ])
    func bothEndingsEndALine(text: String, lines: [String]) {
        #expect(text.lines.map(String.init) == lines)
    }
}
