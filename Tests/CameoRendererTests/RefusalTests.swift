import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// Bad pictures: each fails quickly with a named code and a message that names the source and the fault.
@Suite(.timeLimit(.minutes(10)))
struct RefusalTests {
    private func expect(
        _ code: JobFailure.Code,
        _ words: String...,
        of path: String,
        in pool: RendererPool? = nil
    ) async throws {
        let pool = try pool ?? Renderers.shared.get()
        let failure = await failure { try await pool.render(Rendition(width: 64, height: 64), of: path) }
        #expect(failure?.code == code)
        #expect(failure?.stage == .render)
        #expect(failure?.isRetryable == false)
        for word in [path] + words {
            #expect(failure?.message.contains(word) == true, "\(failure?.message ?? "") should say \(word)")
        }
    }

    @Test(arguments: [
        ("empty.jpg", "", "empty"), ("text.jpg", "Not a picture at all.\n", "plain text"),
        ("page.png", "<!DOCTYPE html><html></html>", "HTML"), ("doc.jpg", "%PDF-1.7\n", "PDF"),
        ("psd.psd", "8BPS\u{0}\u{1}", "Photoshop"), ("pnm.ppm", "P6\n1 1\n255\nabc", "PNM"),
        ("film.mp4", "\u{0}\u{0}\u{0}\u{18}ftypmp42\u{0}\u{0}\u{0}\u{0}mp42isom", "video"),
        ("nothing.bin", "\u{1}\u{2}\u{3}\u{4}\u{5}", "not a JPEG"),
    ])
    func whatIsNoPictureIsNamed(_ name: String, content: String, word: String) async throws {
        try await expect(.imageUnsupportedFormat, word, of: Pictures.bytes(name, Array(content.utf8)))
    }

    @Test func truncatedSVGZDoesNotHang() async throws {
        try await expect(.imageUnsupportedFormat, "gzip", of: Pictures.truncatedSVGZ())
    }

    @Test(
        arguments: TestLength.few(["jpg", "png", "gif", "webp", "tif", "heic", "avif"]),
        TestLength.few([0.05, 0.5, 0.9], 1, whole: 2)
    )
    func truncatedPictureIsCorrupt(_ ending: String, share: Double) async throws {
        try await expect(.imageCorrupt, "damaged", of: Pictures.truncated(ending, share: share))
    }

    /// libvips has one buffer of errors, in which its loader of HEIF and AVIF leaves text about pictures that it has opened.
    @Test(arguments: ["heic", "avif"])
    func aFailureSaysNothingOfAnEarlierPicture(ending: String) async throws {
        let broken = try await Pictures.truncated("png", share: 0.5)
        try await Renderers.withPool(Renderers.configuration(Renderers.executable, processes: 1)) { pool in
            let alone = await failure { try await pool.render(Rendition(width: 64), of: broken) }
            _ = try await pool.render(Rendition(width: 64), of: Pictures.photo(ending))
            let behind = await failure { try await pool.render(Rendition(width: 64), of: broken) }
            #expect(alone?.code == .imageCorrupt)
            #expect(behind?.message == alone?.message)
        }
    }

    @Test(arguments: [Rendition.Gravity.north, .south, .center])
    func truncationShowsEvenBelowTheCut(_ gravity: Rendition.Gravity) async throws {
        let path = try await Pictures.truncated("jpg", share: 0.9)
        let rendition = Rendition(width: 640, height: 20, fit: .cover, gravity: gravity)
        let failure = await failure { try await render(rendition, of: path) }
        #expect(failure?.code == .imageCorrupt)
    }

    @Test(arguments: ["truncated-interlaced.png", "truncated-progressive.jpg"])
    func truncatedInterlacedPictureIsCorrupt(_ name: String) async throws {
        let whole = try await name.hasSuffix("png") ? Pictures.interlacedPNG() : Pictures.progressiveJPEG()
        let bytes = try Data(contentsOf: URL(filePath: whole))
        try await expect(.imageCorrupt, of: Pictures.bytes(name, Array(bytes.prefix(bytes.count * 8 / 10))))
    }

    @Test(
        arguments: [
            ("bare.jpg", [0xFF, 0xD8, 0xFF, 0xE0]), ("bare.png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
            ("bare.gif", Array("GIF89a".utf8)), ("bare.webp", Array("RIFF\u{8}\0\0\0WEBPVP8 ".utf8)),
            ("bare.tif", [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0]), ("bare.avif", Array("\0\0\0\u{10}ftypavif\0\0\0\0".utf8)),
        ] as [(String, [UInt8])]
    )
    func magicBytesAloneAreCorrupt(_ name: String, bytes: [UInt8]) async throws {
        try await expect(.imageCorrupt, of: Pictures.bytes(name, bytes))
    }

    @Test func hugePNGIsRefusedByItsHeader() async throws {
        try await expect(
            .imageTooManyPixels,
            "60000 × 60000",
            "3600000000",
            "100000000",
            of: Pictures.pngHeader(claiming: 60_000, 60_000)
        )
    }

    /// libvips would allocate a gigabyte to open it.
    @Test func hugeWebPIsRefusedByItsHeader() async throws {
        let canvas: [UInt8] = [0xFE, 0x3F, 0, 0xFE, 0x3F, 0]
        let chunk = Array("VP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0] + canvas
        let bytes = Array("RIFF".utf8) + [22, 0, 0, 0] + Array("WEBP".utf8) + chunk
        try await expect(.imageTooManyPixels, "16383 × 16383", "100000000", of: Pictures.bytes("claims.webp", bytes))
    }

    @Test func pixelLimitCountsWidthTimesHeight() async throws {
        var configuration = Renderers.configuration(processes: 1)
        configuration.limits.pixels = 960 * 640 - 1
        try await Renderers.withPool(configuration) { pool in
            try await expect(.imageTooManyPixels, "960 × 640", "614399", of: Pictures.photo("jpg"), in: pool)
            let small = try await pool.render(Rendition(width: 64), of: Pictures.plain(300, 200))
            #expect(small.renditions.count == 1)
        }
    }

    @Test func oneRenditionThatFailsTakesAllWithIt() async throws {
        let path = try await Pictures.plain(4000, 2)
        let renditions = [Rendition(width: 64), Rendition(height: 100, withoutEnlargement: false)]
        let failure = await failure {
            try await Renderers.shared.get().render(renditions, of: OpenFile(reading: path), named: path)
        }
        #expect(failure?.code == .imageTooManyPixels)
    }

    /// libvips warns about the EXIF of many cameras, which is no reason to refuse their pictures.
    @Test func oddEXIFIsNoDamage() async throws {
        let jpeg = try Data(contentsOf: URL(filePath: await Pictures.photo("jpg")))
        var odd = Pictures.withEXIF(jpeg, orientation: 99)
        // The Make entry gets a type that TIFF does not define.
        odd[odd.startIndex + 25] = 77
        let path = try await Pictures.bytes("odd-exif.jpg", Array(odd))
        let picture = try await render(Rendition(width: 64), of: path)
        #expect(picture.renditions[0].edges == [64, 43])
    }

    @Test func junkBehindAPictureIsNoDamage() async throws {
        for ending in ["jpg", "png", "gif", "webp"] {
            let bytes = try Data(contentsOf: URL(filePath: await Pictures.photo(ending)))
            let path = try await Pictures.bytes("trailing.\(ending)", Array(bytes) + Array("trailing junk".utf8))
            let picture = try await render(Rendition(width: 64), of: path)
            #expect(picture.renditions[0].edges == [64, 43])
        }
    }
}
