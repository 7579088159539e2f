import CameoModel
import CameoRenderer
import CameoSystem
import TestSupport
import Testing

/// Sizes, as sharp 0.33 and vipsthumbnail compute them.
@Suite(.timeLimit(.minutes(10)))
struct GeometryTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let source: [Int]
        let width: Int?
        let height: Int?
        let fit: Rendition.Fit
        var enlarges = false
        let expected: [Int]

        var testDescription: String {
            "\(source) in \(width ?? 0)x\(height ?? 0) \(fit)\(enlarges ? ", enlarging" : "") is \(expected)"
        }

        init(_ source: [Int], _ box: (Int?, Int?), _ fit: Rendition.Fit, enlarges: Bool = false, _ expected: [Int]) {
            (self.source, width, height, self.fit) = (source, box.0, box.1, fit)
            (self.enlarges, self.expected) = (enlarges, expected)
        }
    }

    static let cases: [Case] = [
        // inside: as large as fits, but not enlarged unless requested.
        Case([300, 200], (100, 100), .inside, [100, 67]),
        Case([200, 300], (100, 100), .inside, [67, 100]),
        Case([300, 200], (150, 50), .inside, [75, 50]),
        Case([300, 200], (299, 199), .inside, [299, 199]),
        Case([300, 200], (300, 200), .inside, [300, 200]),
        Case([300, 200], (600, 600), .inside, [300, 200]),
        Case([300, 200], (600, 600), .inside, enlarges: true, [600, 400]),
        Case([300, 200], (100, nil), .inside, [100, 67]),
        Case([300, 200], (nil, 50), .inside, [75, 50]),
        Case([300, 200], (nil, 400), .inside, [300, 200]),
        Case([300, 200], (nil, 400), .inside, enlarges: true, [600, 400]),
        Case([400, 4], (100, 100), .inside, [100, 1]),
        Case([400, 2], (100, 100), .inside, [100, 1]),
        Case([1000, 1], (10, 10), .inside, [10, 1]),
        Case([4, 2], (1, 1), .inside, [1, 1]),
        Case([5, 3], (3, 3), .inside, [3, 2]),
        Case([333, 777], (100, 100), .inside, [43, 100]),
        // cover: fills the box and is cut to it; a smaller picture keeps its size and is cut only where it extends
        // beyond the box.
        Case([300, 200], (100, 100), .cover, [100, 100]),
        Case([200, 300], (100, 50), .cover, [100, 50]),
        Case([300, 200], (250, 250), .cover, [250, 200]),
        Case([300, 200], (250, 250), .cover, enlarges: true, [250, 250]),
        Case([300, 200], (400, 400), .cover, [300, 200]),
        Case([300, 200], (400, 400), .cover, enlarges: true, [400, 400]),
        Case([300, 200], (400, 100), .cover, [300, 100]),
        Case([300, 200], (100, nil), .cover, [100, 67]),
        Case([300, 200], (nil, 100), .cover, [150, 100]),
        Case([300, 200], (1, 1), .cover, [1, 1]),
        // contain: always the box.
        Case([300, 200], (100, 100), .contain, [100, 100]),
        Case([200, 300], (120, 80), .contain, [120, 80]),
        Case([300, 200], (400, 400), .contain, [400, 400]),
        Case([300, 200], (400, 400), .contain, enlarges: true, [400, 400]),
        Case([300, 200], (400, nil), .contain, [400, 200]),
        Case([300, 200], (400, nil), .contain, enlarges: true, [400, 267]),
        Case([300, 200], (100, nil), .contain, [100, 67]),
        // fill: the box, distorted; neither axis is enlarged.
        Case([300, 200], (100, 100), .fill, [100, 100]),
        Case([300, 200], (400, 100), .fill, [300, 100]),
        Case([300, 200], (400, 100), .fill, enlarges: true, [400, 100]),
        Case([300, 200], (400, 300), .fill, [300, 200]),
        Case([300, 200], (100, nil), .fill, [100, 67]),
        // outside: as small as covers the box.
        Case([300, 200], (100, 100), .outside, [150, 100]),
        Case([200, 300], (100, 100), .outside, [100, 150]),
        Case([300, 200], (250, 250), .outside, [300, 200]),
        Case([300, 200], (250, 250), .outside, enlarges: true, [375, 250]),
        Case([300, 200], (100, nil), .outside, [100, 67]),
        Case([333, 777], (100, 100), .outside, [100, 233]),
        Case([400, 2], (1, 1), .outside, [200, 1]),
    ]

    private func rendition(_ item: Case, width: Int?, height: Int?) -> Rendition {
        Rendition(
            width: width,
            height: height,
            fit: item.fit,
            withoutEnlargement: !item.enlarges,
            format: .png
        )
    }

    @Test(arguments: TestLength.few(cases, 12, whole: 23))
    func sizesFollowSharp(_ item: Case) async throws {
        let path = try await Pictures.plain(item.source[0], item.source[1])
        let rendition = rendition(item, width: item.width, height: item.height)
        let picture = try await render(rendition, of: path)
        #expect(try await Specimen(picture.renditions[0]).edges == item.expected)
        #expect(picture.renditions[0].edges == item.expected)
    }

    /// The same table with the source stored on its side.
    @Test(arguments: TestLength.few(cases, 12, whole: 23), [6, 8])
    func sizesFollowSharpWhenTurned(_ item: Case, orientation: Int) async throws {
        let path = try await Pictures.turned(item.source[0], item.source[1], orientation: orientation)
        let rendition = rendition(item, width: item.width, height: item.height)
        let picture = try await render(rendition, of: path)
        #expect(picture.renditions[0].edges == item.expected)
        #expect(picture.source.edges == item.source)
    }

    /// All cases of one source as one job: sizes must not depend on other renditions of a shared decode.
    @Test func sizesDoNotDependOnSiblings() async throws {
        let cases = Self.cases.filter { $0.source == [300, 200] }.prefix(ThumbnailRequest.maximumRenditions)
        let path = try await Pictures.plain(300, 200)
        let renditions = cases.map { rendition($0, width: $0.width, height: $0.height) }
        let picture = try await Renderers.shared.get().render(renditions, of: OpenFile(reading: path), named: path)
        #expect(picture.renditions.map { [$0.width, $0.height] } == cases.map(\.expected))
    }

    @Test(
        arguments: ["jpg", "png", "webp"],
        TestLength.few([[100, 100], [333, 77], [77, 333], [500, 500], [641, 450], [959, 600]], 1, whole: 2)
    )
    func sizesMatchVipsthumbnail(_ ending: String, box: [Int]) async throws {
        let path = try await Pictures.photo(ending)
        let fits: [(Rendition.Fit, [String])] = [
            (.inside, ["--size", "\(box[0])x\(box[1])>"]),
            (.cover, ["--size", "\(box[0])x\(box[1])>", "--smartcrop", "centre"]),
            (.fill, ["--size", "\(box[0])x\(box[1])!"]),
        ]
        for (fit, options) in fits {
            let rendition = Rendition(width: box[0], height: box[1], fit: fit, format: .png)
            let specimen = try await Specimen(rendered(rendition, of: path))
            let reference = try await specimen.beside("reference.png") {
                try await Pictures.tool("vipsthumbnail", [path] + options + ["-o", $0])
            }
            let size = try await ["width", "height"].asyncMap {
                Int(try await Pictures.tool("vipsheader", ["-f", $0, reference]))
            }
            #expect(specimen.edges == size, "\(fit) \(box)")
        }
    }

    @Test func renditionThatWouldBeTooLargeIsRefused() async throws {
        let strip = try await Pictures.plain(4000, 2)
        let pool = try Renderers.shared.get()
        let enlarged = Rendition(height: 100, withoutEnlargement: false)
        let failure = await failure { try await pool.render(enlarged, of: strip) }
        #expect(failure?.code == .imageTooManyPixels)
        #expect(failure?.message.contains("200000 × 100") == true)
    }
}
