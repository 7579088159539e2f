import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// The metadata of thumbnails: only what was requested, read back from the file.
@Suite(.timeLimit(.minutes(10)))
struct MetadataTests {
    typealias Kept = Rendition.Encoding.Metadata

    static let formats: [Rendition.Format] = [.jpeg, .png, .webp, .avif]

    /// EXIF, XMP and profile as libvips' tools find them.
    struct Found {
        let exif: EXIFFields?
        let xmp: String?
        let profile: Data?

        init(in specimen: Specimen) async throws {
            func field(_ name: String) async throws -> Data? {
                guard specimen.header[name] != nil else { return nil }
                return Data(base64Encoded: try await Pictures.tool("vipsheader", ["-f", name, specimen.path]))
            }
            exif = try await field("exif-data").map { try EXIFFields($0) }
            xmp = try await field("xmp-data").map { String(decoding: $0, as: UTF8.self) }
            profile = try await field("icc-profile-data")
        }
    }

    private func rendered(_ keep: Set<Kept>, _ format: Rendition.Format, of path: String) async throws -> (
        EncodedRendition, Found
    ) {
        var rendition = Rendition(width: 96, height: 96, format: format)
        rendition.encoding.keep = keep
        let made = try await render(rendition, of: path).renditions[0]
        return (made, try await Found(in: Specimen(made)))
    }

    private func secrets(in made: EncodedRendition) -> [String] {
        Pictures.secrets.filter { made.bytes.range(of: Data($0.utf8)) != nil }
    }

    @Test func fixtureHasItAll() async throws {
        let bytes = try await Data(contentsOf: URL(filePath: Pictures.withMetadata()))
        for secret in Pictures.secrets { #expect(bytes.range(of: Data(secret.utf8)) != nil) }
    }

    @Test(arguments: formats + [.gif, .auto])
    func nothingIsKeptUnasked(_ format: Rendition.Format) async throws {
        let (made, found) = try await rendered([], format, of: Pictures.withMetadata())
        #expect(found.exif == nil)
        #expect(found.xmp == nil)
        #expect(found.profile == nil)
        for word in Pictures.secrets + ["Exif", "Ann", "Cameo Works", "adobe", "acsp"] {
            #expect(made.bytes.range(of: Data(word.utf8)) == nil, "\(word)")
        }
    }

    @Test(arguments: formats)
    func copyrightIsTwoFieldsAndThoseOfXMP(_ format: Rendition.Format) async throws {
        let (made, found) = try await rendered([.copyright], format, of: Pictures.withMetadata())
        let exif = try #require(found.exif)
        #expect(Set(exif.picture.keys) == [0x013B, 0x8298])
        #expect(EXIFFields.text(exif.picture[0x013B]) == "Ann Artist")
        #expect(EXIFFields.text(exif.picture[0x8298]) == "Copyright Ann")
        #expect(exif.camera.isEmpty && exif.place.isEmpty && exif.preview.isEmpty)
        #expect(
            found.xmp?.contains("Copyright Ann; Ann &amp; Co</rdf:li>") == true
        )
        #expect(found.profile == nil)
        #expect(secrets(in: made).isEmpty)
    }

    @Test(arguments: formats, [Pictures.ByteOrder.big, .little])
    func exifComesWithoutPlacePreviewAndMakersNote(
        _ format: Rendition.Format,
        order: Pictures.ByteOrder
    ) async throws {
        let (made, found) = try await rendered([.exif], format, of: Pictures.withMetadata(order: order))
        let exif = try #require(found.exif)
        #expect(Set(exif.picture.keys) == [0x010F, 0x0110, 0x013B, 0x8298, 0x8769])
        #expect(EXIFFields.text(exif.picture[0x010F]) == "Cameo Works")
        #expect(Set(exif.camera.keys) == [0x829A, 0x9000, 0x9003, 0xA001, 0xA002, 0xA003, 0xA434])
        #expect(EXIFFields.text(exif.camera[0x9003]) == "2024:05:06 07:08:09")
        #expect(exif.camera[0x829A] == [0, 0, 0, 1, 0, 0, 0, 250])
        #expect(EXIFFields.number(exif.camera[0xA001]) == 1)
        #expect([0xA002, 0xA003].map { EXIFFields.number(exif.camera[$0]) } == [96, 64])
        #expect(exif.place.isEmpty && exif.preview.isEmpty)
        #expect(secrets(in: made).isEmpty)
    }

    @Test(arguments: formats)
    func placeIsKeptByItsWordOnly(_ format: Rendition.Format) async throws {
        let (made, found) = try await rendered([.gps], format, of: Pictures.withMetadata())
        let exif = try #require(found.exif)
        #expect(Set(exif.picture.keys) == [0x8825])
        #expect(Set(exif.place.keys) == [1, 2, 3, 4, 0x1B])
        #expect(exif.place[2] == [0, 0, 0, 48, 0, 0, 0, 1, 0, 0, 0, 51, 0, 0, 0, 1, 0, 0, 0x0B, 0x89, 0, 0, 0, 100])
        #expect(secrets(in: made) == ["PLACESECRET"])
    }

    @Test(arguments: formats)
    func xmpComesWithoutThePlace(_ format: Rendition.Format) async throws {
        let (made, found) = try await rendered([.xmp], format, of: Pictures.withMetadata())
        let xmp = try #require(found.xmp)
        #expect(xmp.contains("<rdf:li xml:lang=\"x-default\">Ann &amp; Co</rdf:li>"))
        #expect(xmp.hasSuffix("</rdf:RDF></x:xmpmeta>\n<?xpacket end=\"w\"?>"))
        #expect(!xmp.contains("Orientation"))
        #expect(found.exif == nil && found.profile == nil)
        #expect(secrets(in: made).isEmpty)
    }

    @Test(arguments: formats)
    func xmpKeepsThePlaceByItsWord(_ format: Rendition.Format) async throws {
        let (made, found) = try await rendered([.xmp, .gps], format, of: Pictures.withMetadata())
        #expect(found.xmp?.contains("exif:GPSLatitude=\"48,51.49N LATSECRET\"") == true)
        #expect(found.xmp?.contains("Orientation") == false)
        #expect(secrets(in: made) == ["PLACESECRET", "LATSECRET"])
    }

    /// The addresses of Photoshop, IPTC Core and Extension, Dublin Core and XMP Dynamic Media.
    private static let addresses = [
        "photoshop:City", "photoshop:State", "photoshop:Country", "Iptc4xmpCore:Location", "Iptc4xmpCore:CountryCode",
        "Iptc4xmpExt:LocationCreated", "Iptc4xmpExt:LocationShown", "Iptc4xmpExt:Sublocation", "Iptc4xmpExt:City",
        "Iptc4xmpExt:ProvinceState", "Iptc4xmpExt:CountryName", "Iptc4xmpExt:WorldRegion", "dc:coverage",
        "xmpDM:shotLocation",
    ]

    @Test(arguments: addresses)
    func anAddressStaysOnlyWithTheLocation(_ property: String) async throws {
        let spaces = """
            xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:xmpDM="http://ns.adobe.com/xmp/1.0/DynamicMedia/"
            xmlns:Iptc4xmpCore="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"
            xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
            """
        let element = "<\(property)><rdf:Bag><rdf:li>ADDRESSSECRET</rdf:li></rdf:Bag></\(property)>"
        for (number, xmp) in [
            Pictures.xmp(attributes: spaces, elements: element),
            Pictures.xmp(attributes: "\(spaces) \(property)=\"ADDRESSSECRET\""),
        ].enumerated() {
            let path = try await Pictures.withXMP("\(property.replacing(":", with: "-"))-\(number)", xmp)
            for keep in [[.xmp], [.xmp, .gps]] as [Set<Kept>] {
                let kept = try #require(try await rendered(keep, .jpeg, of: path).1.xmp)
                #expect(kept.contains("Ann &amp; Co"))
                #expect(kept.contains("ADDRESSSECRET") == keep.contains(.gps))
            }
        }
    }

    /// If a location cannot be cut out with certainty, the whole packet is dropped.
    @Test(arguments: [
        ("<!-- GPSLatitude 48 -->", ""), ("<dji:Note>GpsLongtitude 2.3</dji:Note>", ""),
        ("<geo:lat>48</geo:lat>", ""), ("<a:b c='<exif:GPSLatitude>'/>", ""), ("", "loc:Latitude='48'"),
        ("<a:b>", ""), ("</a:b>", ""), ("<a:b c=d/>", ""), ("<a:b/ x>", ""), ("<![CDATA[ GPS ]]>", ""),
        ("<xmp:x><xmpGImg:image>/9j/4AAQ</xmpGImg:image></xmp:x>", ""),
        ("GPS\u{308}", ""), ("<!--", ""),
    ])
    func doubtfulXMPIsDroppedAsAWhole(_ elements: String, attributes: String) async throws {
        let xmp = Pictures.xmp(attributes: attributes, elements: elements)
        let name = "doubt-\(UInt(bitPattern: (elements + attributes).hashValue))"
        let (_, found) = try await rendered([.xmp], .jpeg, of: Pictures.withXMP(name, xmp))
        #expect(found.xmp == nil)
    }

    @Test(arguments: [
        ("<drone:GpsLatitude>48</drone:GpsLatitude>", ""), ("<exif:GPSAltitude/>", "drone:GpsLongtitude = '2'"),
        ("<xmp:Thumbnails><rdf:li>/9j/</rdf:li></xmp:Thumbnails>", "exif:PixelXDimension='960'"),
        ("<\u{301}exif:GPSx>1</\u{301}exif:GPSx>", "\n\texif:GPSLongitude\r\n=\n'>2<'"),
    ])
    func anyVocabularysPlaceIsCutOut(_ elements: String, attributes: String) async throws {
        let xmp = Pictures.xmp(attributes: attributes, elements: elements)
        let name = "cut-\(UInt(bitPattern: (elements + attributes).hashValue))"
        let (_, found) = try await rendered([.xmp], .jpeg, of: Pictures.withXMP(name, xmp))
        let kept = try #require(found.xmp)
        #expect(kept.contains("Ann &amp; Co"))
        for word in ["Gps", "GPS", "Thumbnails", "/9j/", "PixelXDimension"] { #expect(!kept.contains(word)) }
    }

    @Test(arguments: formats)
    func profileOfThePixelsIsKept(_ format: Rendition.Format) async throws {
        for path in try await [Pictures.displayP3("jpg"), Pictures.grey("jpg")] {
            let (made, found) = try await rendered([.icc], format, of: path)
            let profile = try #require(found.profile)
            #expect(Self.red(of: profile).map { abs($0 - 0.436) < 0.002 } == true, "sRGB's red, adapted to D50")
            #expect(try await Specimen(made).summary.contains("3 bands, srgb"))
            #expect(found.exif == nil && found.xmp == nil)
        }
    }

    /// The X of a profile's red (ICC.1, tag `rXYZ`), by which profiles of different libvips can be told to be sRGB.
    private static func red(of profile: Data) -> Double? {
        let bytes = [UInt8](profile)
        func number(_ place: Int) -> Int? {
            place + 4 <= bytes.count ? bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } : nil
        }
        let tags = (0..<(number(128) ?? 0)).map { 132 + 12 * $0 }
        let name = [UInt8]("rXYZ".utf8)
        guard let tag = tags.first(where: { $0 + 12 <= bytes.count && bytes[$0..<$0 + 4].elementsEqual(name) }),
            let place = number(tag + 4), let value = number(place + 8)
        else { return nil }
        return Double(value) / 65_536
    }

    @Test(arguments: formats)
    func sourcesProfileStaysWithItsNumbers(_ format: Rendition.Format) async throws {
        let path = try await Pictures.displayP3("png")
        var rendition = Rendition(width: 960, format: format, quality: format == .png ? nil : 95)
        rendition.encoding.keepProfile = true
        let made = try await render(rendition, of: path).renditions[0]
        let specimen = try await Specimen(made)
        let source = try await Pictures.tool("vipsheader", ["-f", "icc-profile-data", path])
        #expect(try await Found(in: specimen).profile == Data(base64Encoded: source))
        #expect(try await specimen.difference(to: path) < 3)
    }

    @Test(arguments: ["png", "webp", "avif"])
    func everySourceFormatsMetadataIsFound(_ ending: String) async throws {
        let path = try await Pictures.withMetadata(as: ending)
        let (made, found) = try await rendered([.exif, .xmp], .jpeg, of: path)
        #expect(EXIFFields.text(found.exif?.picture[0x010F]) == "Cameo Works")
        #expect(found.xmp?.contains("Ann &amp; Co") == true)
        #expect(secrets(in: made).isEmpty)
    }

    @Test func orientationThatWasAppliedIsNotKept() async throws {
        let (made, found) = try await rendered([.exif], .jpeg, of: Pictures.withMetadata(orientation: 6))
        #expect(made.edges == [64, 96])
        let exif = try #require(found.exif)
        #expect(exif.picture[0x0112] == nil)
        #expect([0xA002, 0xA003].map { EXIFFields.number(exif.camera[$0]) } == [64, 96])
    }

    /// All kinds together change no pixel and no size.
    @Test(arguments: formats, TestLength.few(["jpg", "disc"], 1, whole: 1))
    func metadataDoesNotTouchThePixels(_ format: Rendition.Format, source: String) async throws {
        let path = source == "jpg" ? try await Pictures.withMetadata() : try await Pictures.disc("png")
        let (plain, _) = try await rendered([], format, of: path)
        let (made, found) = try await rendered(Set(Kept.allCases), format, of: path)
        #expect(found.profile != nil)
        #expect(made.hasAlpha == plain.hasAlpha)
        let other = try await Specimen(plain)
        #expect(try await Specimen(made).difference(to: other.path) == 0)
    }

    /// The orientation is read by Cameo, or by libvips if anything is unusual: here, a second block.
    @Test(arguments: [Pictures.ByteOrder.big, .little])
    func orientationIsThatOfTheFirstBlock(_ order: Pictures.ByteOrder) async throws {
        let path = try await Pictures.withMetadata(orientation: 6, order: order)
        #expect(try await render(Rendition(width: 64), of: path).source.edges == [640, 960])
        let bytes = try Data(contentsOf: URL(filePath: path))
        let other = try await Pictures.bytes("two-\(order).jpg", Array(Pictures.withEXIF(bytes, orientation: 3)))
        #expect(try await render(Rendition(width: 64), of: other).source.edges == [960, 640])
    }

    /// Directories that point outside or to themselves, or declare more than there is.
    @Test(arguments: [
        [0x4D, 0x4D, 0, 0x2A, 0xFF, 0xFF, 0xFF, 0xFF], [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0xFF, 0xFF],
        [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 0x87, 0x69, 0, 4, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0],
        [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 0x01, 0x0F, 0, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 8, 0, 0, 0, 0],
        [0x49, 0x49, 0x2A, 0], [0x58, 0x58, 0x2A, 0, 8, 0, 0, 0], [0x4D],
    ])
    func brokenEXIFIsLeftBehind(_ bytes: [Int]) async throws {
        let name = "broken-\(bytes.count)-\(bytes.last ?? 0)-\(bytes.first ?? 0)"
        let path = try await Pictures.withEXIF(name, bytes.map { UInt8($0) })
        let (_, found) = try await rendered([.exif, .gps], .jpeg, of: path)
        #expect(found.exif == nil)
    }
}
