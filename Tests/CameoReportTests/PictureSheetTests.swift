import CameoModel
import CameoReport
import Testing

/// The contact sheet that is one picture, and its letters.
@Suite(.timeLimit(.minutes(10)))
struct PictureSheetTests {
    private static let ink: [UInt8] = [0, 0, 0, 255]
    private static let paper: [UInt8] = [255, 255, 255, 255]

    private func lines(_ text: String) -> [String] {
        let picture = BitmapFont.picture(text, ink: Self.ink, paper: Self.paper)
        return (0..<picture.height).map { row in
            let bytes = part(picture, 0, row, picture.width, 1)
            return String(stride(from: 0, to: bytes.count, by: 4).map { bytes[$0] == 0 ? "#" : "." as Character })
        }
    }

    private func part(_ picture: Pixels, _ left: Int, _ top: Int, _ width: Int, _ height: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in top..<top + height {
            let start = (row * picture.width + left) * 4
            bytes += picture.bytes[start..<start + width * 4]
        }
        return bytes
    }

    @Test func textIsDrawn() {
        #expect(
            lines("Agi…") == [
                ".###.......#......",
                "#...#.............",
                "#...#..###.#......",
                "#####.#..#.#......",
                "#...#.#..#.#......",
                "#...#.#..#.#......",
                "#...#..###.#.#.#.#",
                ".........#........",
                ".......##.........",
            ]
        )
        #expect(lines("") == Array(repeating: "", count: BitmapFont.height))
    }

    @Test func everyASCIICharacterHasAShapeOfItsOwn() {
        let all = (32...126).map { String(UnicodeScalar(UInt8($0))) }
        let shapes = all.map(lines)
        #expect(Set(shapes).count == 95)
        for (character, shape) in zip(all, shapes) {
            #expect(shape.contains { $0.contains("#") } == (character != " "), "\(character)")
        }
        let box = lines("語")
        #expect(lines("\u{7F}") == box && lines("👩‍👩‍👧") == box && lines("\n") == box && !shapes.contains(box))
        #expect(box == ["####"] + Array(repeating: "#..#", count: 5) + ["####", "....", "...."])
    }

    @Test func whatIsTooLongLosesItsMiddle() {
        #expect(BitmapFont.cut("photo.jpg", toWidth: 160) == "photo.jpg")
        let long = "Screenshot from 2026-11-22 at 17.03.08 (copy).png"
        let cut = BitmapFont.cut(long, toWidth: 160)
        #expect(cut.hasPrefix("Screenshot ") && cut.hasSuffix("(copy).png") && cut.contains("…"))
        for text in [long, String(repeating: "i", count: 300), String(repeating: "語", count: 80)] {
            for limit in 0...200 {
                let cut = BitmapFont.cut(text, toWidth: limit)
                let width = BitmapFont.width(of: cut)
                #expect(width <= limit && (limit < 12 || width > limit - 12), "\(limit): \(cut)")
                #expect(width == BitmapFont.picture(cut, ink: Self.ink, paper: Self.paper).width)
            }
        }
    }

    @Test func aCaptionStandsBelowItsPicture() {
        let edge = PictureSheet.edge
        let photo = Pixels(width: edge, height: edge, filledWith: [10, 120, 30, 255])
        var sheet = PictureSheet(count: 2)
        let empty = sheet.pixels
        sheet.place(photo, at: 1, caption: .init(name: "a.jpg", size: "1x1 webp, 3 B"))
        let cardWidth = (empty.width - 12) / 2
        #expect(part(sheet.pixels, 0, 0, cardWidth, empty.height) == part(empty, 0, 0, cardWidth, empty.height))
        let left = cardWidth + 12 + 8
        #expect(part(sheet.pixels, left, 20, edge, edge) == photo.bytes)
        for (text, ink, top) in [("a.jpg", 0x22, 188), ("1x1 webp, 3 B", 0x66, 201)] as [(String, UInt8, Int)] {
            let line = BitmapFont.picture(text, ink: [ink, ink, ink, 255], paper: Self.paper)
            let start = left + edge / 2 - line.width / 2
            #expect(part(sheet.pixels, start, top, line.width, line.height) == line.bytes)
        }
    }

    /// Names and numbers as large as they may be stay on their card.
    @Test func nothingIsDrawnOutsideItsCard() {
        let long = String(repeating: "W", count: 500)
        for count in [1, 2, 5, 12] {
            var sheet = PictureSheet(count: count)
            let empty = sheet.pixels
            for index in 0..<count { sheet.place(nil, at: index, caption: .init(name: long, size: long)) }
            let (width, height) = (empty.width, empty.height)
            for gap in [0, 188] where gap < width {
                #expect(part(sheet.pixels, gap, 0, 12, height) == part(empty, gap, 0, 12, height))
            }
            #expect(part(sheet.pixels, 0, height - 12, width, 12) == part(empty, 0, height - 12, width, 12))
        }
    }

    @Test func whatCannotBeReadSaysSo() {
        var (sheet, wrong) = (PictureSheet(count: 1), PictureSheet(count: 1))
        let caption = PictureSheet.Caption(name: "a.jpg", size: "1x1 webp, 3 B")
        sheet.place(nil, at: 0, caption: caption)
        wrong.place(Pixels(width: 1, height: 1, filledWith: Self.ink), at: 0, caption: caption)
        #expect(sheet.pixels == wrong.pixels)
        #expect(sheet.pixels.bytes.contains(0x11), "red letters")
    }

    @Test(
        arguments: [
            ("file:///pictures/a%20b.jpg", "a b.jpg"), ("file:///r%C3%A9sum%C3%A9/caf%C3%A9.jpg", "cafe.jpg"),
            ("https://user:secret@example.com/b.jpg?w=1", "b.jpg?w=1"), ("https://example.com/", "example.com"),
            ("data:image/png;base64,AAAA", "data:image/png;base64,AAAA"), ("initials:Ada", "initials:Ada"),
        ]
    )
    func aCaptionNamesTheSource(source: String, name: String) async throws {
        let bench = try await ReportBench()
        _ = try await bench.complete(source, bytes: "three")
        var captions: [PictureSheet.Caption] = []
        try await ThumbnailListing(store: bench.store, batch: nil).forEach { captions.append($0.caption) }
        #expect(captions.map(\.name) == [name] && captions.map(\.size) == ["64x48 webp, 5 B"])
    }
}
