import CameoModel
import Testing

@testable import CameoImaging

/// What librsvg draws otherwise than browsers (Chromium 156 beside librsvg 2.54): said in other words, or named.
@Suite struct ReadableDrawingTests {
    private func svg(_ body: String, _ attributes: String = "") -> String {
        "<svg xmlns='http://www.w3.org/2000/svg'\(attributes)>\(body)</svg>"
    }

    private func read(_ text: String) -> (text: String?, omitted: String) {
        let drawing = ReadableDrawing(Array(text.utf8))
        let parts = drawing.omitted.map(\.rawValue).sorted().joined(separator: " ")
        return (drawing.text.map { String(decoding: $0, as: UTF8.self) }, parts)
    }

    @Test(arguments: [
        ("<style>:is(.a, .b) c{fill:red}</style>", "<style><![CDATA[.a c,.b c{fill:red}]]></style>"),
        ("<style>g{x:1;&amp;:hover, rect{y:2}}</style>", "<style><![CDATA[g{x:1}g:hover,g rect{y:2}]]></style>"),
        (
            "<style>@media screen{a{x:1}} @media (prefers-color-scheme: dark){b{x:2}} @layer p{c{x:3}}</style>",
            "<style><![CDATA[a{x:1}c{x:3}]]></style>"
        ),
        (
            "<style>:root{--c:red}</style><a fill='var(--c)' style='x:var(--d, 2px)'/>",
            "<style>:root{--c:red}</style><a fill=\"red\" style=\"x:2px\"/>"
        ),
        ("<a style='width:calc((50px + 1.5px) * 2 - 3px)'/>", "<a style=\"width:100px\"/>"),
        // As Chromium 156 draws them.
        (
            "<a fill='oklch(0.7 0.1 150)'/><a fill='oklch(62.8% 0.2577 29.23deg / 50%)'/>",
            "<a fill=\"rgba(111,176,125,1)\"/><a fill=\"rgba(255,0,0,0.5)\"/>"
        ),
        (
            "<a style='fill:color-mix(in srgb, red 30%, #00f)'/><a fill='color-mix(in oklab, white, rgb(0 0 255))'/>",
            "<a style=\"fill:rgba(77,0,179,1)\"/><a fill=\"rgba(116,163,255,1)\"/>"
        ),
        ("<a fill='color-mix(in srgb, red, transparent)'/>", "<a fill=\"rgba(255,0,0,0.5)\"/>"),
        (
            "<a transform='rotate(9)' transform-origin='10 20'/>",
            "<a transform=\"translate(10.0,20.0) rotate(9) translate(-10.0,-20.0)\" transform-origin='10 20'/>"
        ),
        (
            "<style>a{transform:rotate(9deg);transform-origin:1px 2px}</style>",
            "<style><![CDATA[a{transform:translate(1.0px,2.0px) rotate(9deg) translate(-1.0px,-2.0px);transform-origin:1px 2px}]]></style>"
        ),
        (
            "<filter><feDropShadow dx='1' flood-color='blue' result='r'/></filter>",
            """
            <filter><feGaussianBlur in="SourceGraphic" stdDeviation="2"/><feOffset dx="1" dy="2" result="cameo-shadow"/>\
            <feFlood flood-color="blue"/><feComposite in2="cameo-shadow" operator="in"/><feMerge result="r"><feMergeNode/>\
            <feMergeNode in="SourceGraphic"/></feMerge></filter>
            """
        ),
    ])
    func isSaidInOtherWords(_ body: String, _ other: String) {
        let (text, omitted) = read(svg(body))
        #expect(text == svg(other))
        #expect(omitted == "")
    }

    @Test func eachLetterHasItsPlaceAndTextBeginsWithSixteenPixels() {
        let (text, omitted) = read(svg("<text x='1 2' dy='3' id='t'>a&amp;bc</text>"))
        let letters = "<tspan x=\"1\" dy=\"3\">a</tspan><tspan x=\"2\">&amp;bc</tspan>"
        #expect(text == "<svg font-size=\"16\" xmlns='http://www.w3.org/2000/svg'><text id='t'>\(letters)</text></svg>")
        #expect(omitted == "")
    }

    @Test(arguments: [
        ("<text font-size='9'><textPath href='#p'>a</textPath></text>", "text"),
        ("<text x='1 2'><a>b</a></text>", "text"),
        ("<tspan rotate='30'>a</tspan>", "text"), ("<text dominant-baseline='middle'/>", "text"),
        ("<text style='white-space:pre'>a  b</text>", "text"), ("<g style='mask:linear-gradient(red,blue)'/>", "clips"),
        ("<g clip-path='circle(4px)'/>", "clips"), ("<g style='rotate:3deg'/>", "transforms"),
        ("<g style='transform:rotate(3deg);transform-box:fill-box;transform-origin:center'/>", "transforms"),
        ("<path style=\"d:path('M0 0')\"/>", "paths"), ("<path pathLength='3' stroke-dasharray='1'/>", "paths"),
        ("<g fill='lab(50 20 30)'/>", "colors"), ("<stop stop-color='oklch(0.7 0.15 200)'/>", "colors"),
        ("<g transform='scale(2)' style='transform-box:fill-box'/>", "transforms"),
        ("<g style='fill:var(--none)'/>", "styles"),
        ("<style>@supports not (d:e){a{b:c}}</style>", "styles"), ("<rect width='5rem'/>", "styles"),
        ("<filter><feFlood/><feDropShadow/></filter>", "filters"),
        ("<script/><foreignObject/>", "foreignObject script"),
        ("<a><set/></a><use href='b.svg#c'/>", "animation pictures"),
    ])
    func whatStaysOtherwiseIsNamed(_ body: String, _ words: String) {
        #expect(read(svg(body)).omitted == words)
    }

    /// As Inkscape and others write them: default values, and what belongs to other namespaces.
    @Test(arguments: [
        "<text font-size='9' style='white-space:pre;baseline-shift:baseline;text-transform:none'>a b</text>",
        "<g inkscape:rotate='30' data-d='calc(1)' aria-x='oklch(1)' class='a'/><sodipodi:namedview rotate='3'/>",
        "<switch><foreignObject requiredExtensions='http://ns.adobe.com/AdobeIllustrator/10.0/'/><g/></switch>",
        "<tspan rotate='0' word-spacing='normal' dominant-baseline='auto'>a</tspan><g vector-effect='none'/>",
        "<style>.a{fill:url(#b);clip-path:url(#c)}</style><image href='data:image/png;base64,AA'/><use href='#a'/>",
    ])
    func usualDrawingsStayAsTheyAre(_ body: String) {
        let (text, omitted) = read(svg(body, " font-size='9'"))
        #expect(text == nil && omitted == "")
    }

    /// None of them takes more than its length allows, in time or in bytes.
    @Test func hostileSheetsStaySmall() {
        let nested = String(repeating: "@layer{a,b{", count: 20_000)
        let many = "a" + String(repeating: ":is(b,c)", count: 200) + "{d:e}"
        let variables = (0..<40).map { "--v\($0):var(--v\($0 + 1)) var(--v\($0 + 1))" }.joined(separator: ";")
        for sheet in [
            nested, many, ":root{\(variables)} a{x:var(--v0)}", String(repeating: "a,", count: 3_000) + "b{c{d:e}}",
        ] {
            let drawing = ReadableDrawing(Array(svg("<style>\(sheet)</style>").utf8))
            #expect((drawing.text ?? []).count <= 4 * sheet.utf8.count + 1_000)
        }
    }
}
