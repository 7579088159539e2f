import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ColorTests {
    private func specimen(_ rendition: Rendition, of path: String) async throws -> Specimen {
        try await Specimen(rendered(rendition, of: path))
    }

    /// The photo at 240 × 160 without any colour conversion.
    private func reference(beside specimen: Specimen) async throws -> String {
        let photo = try await Pictures.photo()
        return try await specimen.beside("reference.png") {
            try await Pictures.vips("thumbnail", photo, $0, "240", "--height", "160", "--size", "force")
        }
    }

    @Test(
        arguments: TestLength.few(["jpg", "webp", "png", "tif"]),
        TestLength.few([[120, 120], [479, 320], [700, 700]], 1, whole: 1)
    )
    func pixelsMatchVipsthumbnail(_ ending: String, box: [Int]) async throws {
        let path = try await Pictures.photo(ending)
        for fit in [Rendition.Fit.inside, .cover, .fill] {
            let rendition = Rendition(width: box[0], height: box[1], fit: fit, format: .png)
            let specimen = try await specimen(rendition, of: path)
            let options: [String] =
                switch fit {
                case .cover: ["--size", "\(box[0])x\(box[1])>", "--smartcrop", "centre"]
                case .fill: ["--size", "\(specimen.edges[0])x\(specimen.edges[1])!"]
                default: ["--size", "\(box[0])x\(box[1])>"]
                }
            let reference = try await specimen.beside("reference.png") {
                try await Pictures.tool("vipsthumbnail", [path] + options + ["-o", $0])
            }
            #expect(try await specimen.difference(to: reference) < 2, "\(fit)")
        }
    }

    @Test(arguments: ["jpg", "png"])
    func renditionsOfOneDecodeMatchVipsthumbnail(_ ending: String) async throws {
        let path = try await Pictures.photo(ending)
        let renditions = [800, 320, 100].map { Rendition(width: $0, height: $0, format: .png) }
        let picture = try await Renderers.shared.get().render(renditions, of: OpenFile(reading: path), named: path)
        for (rendition, edge) in zip(picture.renditions, [800, 320, 100]) {
            let specimen = try await Specimen(rendition)
            let reference = try await specimen.beside("reference.png") {
                try await Pictures.tool("vipsthumbnail", [path, "--size", "\(edge)x\(edge)", "-o", $0])
            }
            #expect(try await specimen.difference(to: reference) < 2, "\(edge)")
        }
    }

    /// The tolerance of lossy formats.
    @Test(arguments: [("png", 1.0), ("tif", 1.0), ("jpg", 4.0), ("webp", 4.0)])
    func displayP3IsConvertedBySourceProfile(_ ending: String, tolerance: Double) async throws {
        let specimen = try await specimen(Rendition(width: 240, format: .png), of: Pictures.displayP3(ending))
        let difference = try await specimen.difference(to: reference(beside: specimen))
        #expect(difference < tolerance)
    }

    @Test(arguments: ["png", "jpg"])
    func profileOfSRGBChangesNothing(_ ending: String) async throws {
        let saver = ending == "jpg" ? "jpegsave" : "\(ending)save"
        let tagged = try await Pictures.photo(as: "srgb.\(ending)", by: [saver, "--profile", "srgb"])
        let bare = try await Pictures.photo(as: "untagged.\(ending)", by: [saver])
        let rendition = Rendition(width: 240, format: .png)
        let (one, other) = try await (specimen(rendition, of: tagged), specimen(rendition, of: bare))
        #expect(try await one.difference(to: other.path) == 0)
    }

    @Test func profileOfAPictureThatIsNotConvertedWouldShow() async throws {
        let p3 = try await Pictures.displayP3("png")
        let specimen = try await specimen(Rendition(width: 240, format: .png), of: p3)
        let raw = try await specimen.beside("raw.png") {
            try await Pictures.vips("thumbnail", p3, $0, "240", "--height", "160", "--size", "force")
        }
        let difference = try await specimen.difference(to: raw)
        #expect(difference > 5, "the fixture must tell the two apart")
    }

    @Test(arguments: [Pictures.Profile.embedded, .absent])
    func cmykBecomesTheSameColors(_ profile: Pictures.Profile) async throws {
        let path = try await Pictures.cmyk(withProfile: profile)
        let specimen = try await specimen(Rendition(width: 240, format: .png), of: path)
        #expect(specimen.summary.contains("3 bands, srgb"))
        // Wide, because CMYK has fewer colours and JPEG loses some; inverted or unconverted inks differ by 40 and more.
        #expect(try await specimen.difference(to: reference(beside: specimen)) < 8)
    }

    @Test(arguments: ["png", "tif"])
    func sixteenBitsBecomeEight(_ ending: String) async throws {
        let specimen = try await specimen(Rendition(width: 240, format: .png), of: Pictures.sixteenBit(ending))
        #expect(specimen.summary.contains("uchar"))
        #expect(try await specimen.difference(to: reference(beside: specimen)) < 1.5)
    }

    @Test(arguments: [(Rendition.Format.png, 1), (.jpeg, 1), (.webp, 3)])
    func greyStaysGrey(_ format: Rendition.Format, bands: Int) async throws {
        let specimen = try await specimen(Rendition(width: 240, format: format), of: Pictures.grey("png"))
        #expect(specimen.header["bands"] == "\(bands)")
        let pixel = try await specimen.pixel(100, 80)
        #expect(pixel.allSatisfy { abs($0 - pixel[0]) <= 2 })
    }

    @Test(arguments: [Rendition.Format.jpeg, .png, .webp, .avif])
    func metadataIsStripped(_ format: Rendition.Format) async throws {
        let jpeg = try Data(contentsOf: URL(filePath: await Pictures.displayP3("jpg")))
        let folder = try TemporaryFolder()
        let path = try folder.write(Pictures.withEXIF(jpeg, orientation: 1), to: "exif.jpg")
        let rendition = try await render(Rendition(width: 99, format: format), of: path)
            .renditions[0]
        #expect(rendition.bytes.firstRange(of: Data("SECRET-CAMERA".utf8)) == nil)
        let specimen = try await Specimen(rendition)
        for field in ["exif-data", "icc-profile-data", "xmp-data", "iptc-data", "exif-ifd0-Make"] {
            #expect(specimen.header[field] == nil, "\(field)")
        }
    }
}
