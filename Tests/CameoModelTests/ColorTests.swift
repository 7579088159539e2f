import CameoModel
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ColorTests {
    @Test(
        arguments: [
            ("#000", "#000000ff"), ("#fff", "#ffffffff"), ("#AbC", "#aabbccff"), ("#1234", "#11223344"),
            ("#102030", "#102030ff"), ("#DEADBEEF", "#deadbeef"), ("#00000000", "#00000000"), ("#ff0000", "#ff0000ff"),
            ("#0f08", "#00ff0088"),
        ]
    )
    func readsTheSpellingsOfCSS(text: String, canonical: String) throws {
        let color = try #require(Color(text))
        #expect(color.description == canonical)
        #expect(Color(canonical) == color)
    }

    @Test(
        arguments: [
            "", "#", "#1", "#12", "#12345", "#1234567", "#123456789", "fff", "##fff", "#ggg", "# fff", "#fff ", "#-12",
            "#+12", "#0x1", "white", "#ｆｆｆ", "#f\u{301}ff", "#\u{301}fff", "rgb(0,0,0)",
        ]
    )
    func refusesOtherTexts(text: String) { #expect(Color(text) == nil) }

    @Test func channelsAreInOrder() {
        let color = Color(red: 1, green: 2, blue: 3, alpha: 4)
        #expect(color.description == "#01020304")
        #expect(Color("#01020304") == color)
        #expect(Color.white.description == "#ffffffff")
        #expect(Color.transparent.description == "#00000000")
    }
}
