import CameoHTTPCache
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HTTPFieldsTests {
    @Test func namesCompareWithoutCaseAndLinesKeepTheirOrder() {
        var fields = HTTPFields([.init(name: "Vary", value: " Accept "), .init(name: "ETag", value: "\"a\"")])
        fields.append("VARY", "Cookie")
        #expect(fields["vary"] == "Accept, Cookie")
        #expect(fields.values(of: "Vary") == ["Accept", "Cookie"])
        #expect(fields["Age"] == nil)
        fields.set("vary", "Origin")
        #expect(fields.lines.map(\.name) == ["vary", "ETag"])
        fields.set("etag", nil)
        #expect(fields.lines == [.init(name: "vary", value: "Origin")])
    }

    /// U+212A, the Kelvin sign, is a k to Unicode.
    @Test func onlyASCIIHasCase() {
        let fields = HTTPFields([.init(name: "Coo\u{212A}ie", value: "a")])
        #expect(fields["Cookie"] == nil)
    }
}
