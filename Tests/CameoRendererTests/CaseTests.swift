import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// A small picture as other programs make them, and what it has to become. `cases.py` makes the file: a function there and
/// a line here are a case.
struct PictureCase: Sendable, CustomTestStringConvertible {
    enum Right: Sendable {
        /// Width and height, and the pixel at a place, by its bands.
        case picture([Int], x: Int = 4, y: Int = 4, pixel: [Int])
        case size([Int])
        case frames(Int)
        /// A refusal by this name that says this; or, where the system's libraries read it, a pixel.
        case refusal(JobFailure.Code, String, or: [Int]? = nil)
    }

    let name: String
    let rendition: Rendition
    let right: Right

    init(_ name: String, _ right: Right, _ change: (inout Rendition) -> Void = { _ in }) {
        var rendition = Rendition(width: 256, height: 256, format: .png)
        change(&rendition)
        (self.name, self.rendition, self.right) = (name, rendition, right)
    }

    var testDescription: String { "\(name) \(rendition.format)" }

    static let all: [PictureCase] = [
        .init("grey_profile_on_rgb_jpeg", .picture([64, 16], x: 63, pixel: [252, 4, 127])),
        .init("grey_profile_on_rgb_jpeg", .size([64, 16])) { $0.format = .jpeg },
        .init("grey_profile_on_rgb_jpeg", .picture([64, 16], x: 63, pixel: [252, 4, 127])) {
            $0.encoding.keepProfile = true
        },
        .init("grey_profile_on_rgb_tiff", .picture([64, 16], x: 63, pixel: [252, 3, 128])),
        .init("grey_profile_on_cmyk_tiff", .picture([8, 8], pixel: [255, 255, 255])),
        .init("cmyk_profile_on_rgb_tiff", .picture([8, 8], pixel: [200, 100, 50])),
        .init("gamma_1", .picture([64, 16], x: 32, pixel: [188, 188, 188])),
        .init("gamma_1_grey", .picture([64, 16], x: 32, pixel: [188])),
        .init("gamma_usual", .picture([64, 16], x: 32, pixel: [128, 128, 128])),
        .init("gamma_behind_srgb", .picture([64, 16], x: 32, pixel: [128, 128, 128])),
        .init("gamma_behind_cicp", .picture([64, 16], x: 32, pixel: [128, 128, 128])),
        .init("primaries_of_p3", .picture([64, 16], pixel: [255, 0, 0])),
        .init("avif_p3", .picture([64, 64], pixel: [255, 0, 0])),
        .init("avif_p3", .picture([64, 64], pixel: [255, 0, 0])) { $0.encoding.keepProfile = true },
        .init("avif_pq", .picture([64, 64], pixel: [240, 240, 240])),
        .init("avif_hlg", .picture([64, 64], pixel: [240, 240, 240])),
        .init("avif_bt601", .picture([64, 64], pixel: [200, 100, 50])),
        .init("avif_premultiplied", .picture([64, 64], pixel: [199, 100, 50, 128])),
        .init("cinema_dci", .picture([8, 8], pixel: [213, 8, 33])),
        .init("cinema_p3", .picture([8, 8], pixel: [219, 7, 32])),
        .init("cinema_xyz_grey", .picture([8, 8], pixel: [118])),
        .init("xyz_light", .picture([8, 8], pixel: [193, 148, 148])),
        .init("smpte_240", .picture([8, 8], pixel: [201, 82, 77])),
        .init("avif_cinema_dci", .picture([64, 64], pixel: [213, 8, 33])),
        .init("grey_of_limited_range", .picture([160, 120], x: 40, y: 30, pixel: [87, 87, 87])),
        .init("grey_of_limited_range", .picture([160, 120], x: 120, y: 90, pixel: [203, 203, 203])),
        .init("grey_of_limited_range_untold", .picture([160, 120], x: 120, y: 30, pixel: [118, 118, 118])),
        .init("integer_ycgco", .picture([160, 120], x: 40, y: 30, pixel: [220, 30, 30])),
        .init("integer_ycgco", .picture([160, 120], x: 120, y: 90, pixel: [230, 220, 40])),
        .init("smaller_opacity", .picture([256, 192], x: 20, y: 96, pixel: [0, 0, 0, 0])),
        .init("smaller_opacity", .picture([256, 192], x: 200, y: 40, pixel: [30, 180, 30, 255])),
        .init("float_grey", .picture([64, 8], x: 32, pixel: [130])),
        .init("grey_32_bits", .picture([64, 8], x: 32, pixel: [128])),
        .init("grey_signed", .picture([64, 8], x: 32, pixel: [128])),
        .init("ycbcr", .picture([8, 8], pixel: [254, 0, 0])),
        .init("ycbcr_video_range", .picture([8, 8], pixel: [255, 255, 255])),
        .init("ycbcr_subsampled", .refusal(.imageUnsupportedFormat, "YCbCr", or: [254, 0, 0])),
        .init("float_grey_half", .refusal(.imageUnsupportedFormat, "16-bit floating point", or: [16])),
        .init("twelve_bits", .refusal(.imageUnsupportedFormat, "12 bits a sample")),
        .init("lossless_jpeg", .refusal(.imageUnsupportedFormat, "lossless JPEG")),
        .init("reduced_first", .picture([64, 64], pixel: [0, 200, 0])),
        .init("big_reduced_first", .picture([64, 64], pixel: [0, 200, 0])),
        .init("big_grey_signed", .picture([64, 8], x: 32, pixel: [128])),
        .init("big_twelve_bits", .refusal(.imageUnsupportedFormat, "12 bits a sample")),
        .init("float_grey_white_is_zero", .picture([64, 8], x: 32, pixel: [125])),
        .init("rgb_with_selection", .picture([8, 8], pixel: [200, 100, 50])),
        .init("rgb_with_selection_and_opacity", .picture([8, 8], pixel: [200, 100, 50, 128])),
        .init("rgb_with_thirteen_samples", .picture([8, 8], pixel: [200, 100, 50, 128])),
        .init("cmyk_with_spot_color", .picture([8, 8], pixel: [255, 255, 255])),
        .init("grey_with_selection", .picture([8, 8], pixel: [128])),
        .init("lab_8", .picture([8, 8], pixel: [223, 32, 28])),
        .init("lab_8_opacity", .picture([8, 8], pixel: [223, 32, 28, 128])),
        .init("lab_16", .picture([8, 8], pixel: [223, 32, 28])),
        .init("lab_16_opacity", .picture([8, 8], pixel: [223, 32, 28, 128])),
        .init("icclab_8", .picture([8, 8], pixel: [223, 32, 28])),
        .init("icclab_16", .picture([8, 8], pixel: [223, 32, 28])),
        .init("lab_lightness", .refusal(.imageUnsupportedFormat, "CIELAB of lightness alone")),
        .init("camera_raw", .picture([32, 64], pixel: [0, 200, 0])),
        .init("sensor_data", .refusal(.imageUnsupportedFormat, "sensor")),
        .init("linear_sensor_data", .refusal(.imageUnsupportedFormat, "sensor")),
        .init("rgb_4_bits", .refusal(.imageUnsupportedFormat, "4 bits a sample")),
        .init("tiles_in_planes", .refusal(.imageUnsupportedFormat, "in tiles, each sample in others")),
        .init("jpeg_dnl", .refusal(.imageUnsupportedFormat, "DNL")),
        .init("jpeg_ls", .refusal(.imageUnsupportedFormat, "JPEG-LS")),
        .init("png_of_apple", .refusal(.imageUnsupportedFormat, "CgBI")),
        .init("late_exif", .size([16, 64])),
        .init("hair_frame", .picture([60, 40], x: 0, y: 20, pixel: [0, 0, 0])) { $0.trim = 10 },
        .init("hair_frame_transparent", .picture([60, 40], x: 0, y: 20, pixel: [0, 0, 0, 255])) { $0.trim = 10 },
        .init("one_dot", .picture([1, 1], x: 0, y: 0, pixel: [0, 0, 0])) { $0.trim = 10 },
        .init("narrow", .picture([256, 256], pixel: [0, 200, 0])) { ($0.fit, $0.withoutEnlargement) = (.cover, false) },
        .init("svg_fraction", .size([300, 130])) { ($0.width, $0.height) = (300, 300) },
        .init("svg_fraction", .size([300, 130])) { ($0.width, $0.height) = (300, nil) },
        .init("svg_inches", .size([256, 128])),
        .init("svg_view_box", .size([256, 192])),
        .init("svg_wide", .size([256, 1])),
        .init("svg_with_webp", .picture([256, 128], x: 64, y: 64, pixel: [0, 200, 0])),
        .init("svg_with_gif", .picture([256, 128], x: 64, y: 64, pixel: [0, 200, 0])),
        .init("svg_with_avif", .picture([256, 128], x: 64, y: 64, pixel: [0, 200, 0])),
        .init("svg_with_png_named_jpeg", .picture([256, 128], x: 64, y: 64, pixel: [0, 200, 0])),
        .init("svg_in_svg", .picture([256, 128], x: 64, y: 64, pixel: [0, 200, 0])),
        .init("svg_in_utf16", .picture([256, 128], x: 64, y: 64, pixel: [0, 200, 0])),
        .init("svg_in_big_endian_utf16", .picture([256, 128], x: 64, y: 64, pixel: [0, 200, 0])),
        .init("gif_uncovered", .picture([16, 16], x: 0, y: 0, pixel: [0, 0, 0, 0])),
        .init("gif_uncovered", .picture([16, 16], x: 6, y: 6, pixel: [0, 200, 0, 255])),
        .init("gif_disposed", .picture([16, 16], x: 2, y: 2, pixel: [0, 0, 0, 0])) { $0.page = 1 },
        .init("gif_disposed", .picture([16, 16], x: 10, y: 10, pixel: [0, 0, 255, 255])) { $0.page = 1 },
        .init("gif_repeated", .frames(3)) { ($0.format, $0.encoding.animated) = (.webp, true) },
        .init("gif_cut", .refusal(.imageCorrupt, "cut off")) { ($0.format, $0.encoding.animated) = (.webp, true) },
        .init("gif_without_trailer", .frames(3)) { ($0.format, $0.encoding.animated) = (.webp, true) },
        .init("gif_with_last_words", .frames(3)) { ($0.format, $0.encoding.animated) = (.webp, true) },
        .init("gif_still_repeated", .frames(1)) { ($0.format, $0.encoding.animated) = (.webp, true) },
    ]
}

@Suite(.timeLimit(.minutes(10)))
struct CaseTests {
    private func file(_ name: String, in folder: TemporaryFolder) async throws -> String {
        let script = Repository.file("Tests/TestSupport/cases.py").path(percentEncoded: false)
        let path = folder.path(name)
        let made = try await run("python3", [script, name, path])
        try #require(made.exitStatus == 0, "\(made.errorText)")
        return path
    }

    private func render(_ name: String, _ rendition: Rendition) async throws -> EncodedRendition {
        let folder = try TemporaryFolder()
        return try await Renderers.shared.get().render(rendition, of: file(name, in: folder)).renditions[0]
    }

    @Test(arguments: TestLength.few(PictureCase.all, 15))
    func othersPicturesBecomeWhatTheySay(_ one: PictureCase) async throws {
        if case .refusal(let code, let words, let pixel) = one.right {
            do {
                let found = try await PixelGrid(of: render(one.name, one.rendition))[4, 4]
                #expect(Array(found.prefix(3)) == pixel)
            } catch let refusal as JobFailure {
                #expect(refusal.code == code && refusal.message.contains(words), "\(refusal)")
            }
            return
        }
        let made = try await render(one.name, one.rendition)
        switch one.right {
        case .picture(let edges, let x, let y, let pixel):
            try #require(made.edges == edges)
            let found = try await PixelGrid(of: made)[x, y]
            let isNear = found.count == pixel.count && zip(found, pixel).allSatisfy { abs($0 - $1) <= 2 }
            #expect(isNear, "\(found), not \(pixel)")
        case .size(let edges): #expect(made.edges == edges)
        case .frames(let count): #expect(made.frames == count)
        case .refusal: break
        }
    }

    @Test(arguments: [
        ("grey_profile_on_rgb_jpeg", "colorProfile"), ("grey_profile_on_rgb_tiff", "colorProfile"), ("avif_p3", ""),
        ("apng", "animation"), ("noise", ""), ("late_exif", ""), ("svg_with_webp", ""), ("svg_in_svg", ""),
        ("gain_map", "gainMap"), ("gain_map_told_before", "gainMap"), ("second_picture", "secondPicture"),
        ("preview", ""), ("motion_photo", "depth motion"), ("smaller_opacity", ""), ("avif_premultiplied", ""),
        ("svg_with_a_link", ""), ("svg_left_out", "animation foreignObject pictures script styles"),
    ])
    func whatThumbnailsLeaveOutIsAFact(_ name: String, _ parts: String) async throws {
        let folder = try TemporaryFolder()
        let path = try await file(name, in: folder)
        let made = try await Renderers.shared.get().render(Rendition(width: 16, format: .png), of: path)
        #expect(made.source.omitted.map(\.rawValue).joined(separator: " ") == parts)
    }

    /// The colours of transparent pixels too.
    @Test(arguments: ["hidden_colors", "hidden_greys", "noise", "gamma_1_grey"], [Rendition.Format.webp, .avif])
    func losslessKeepsEveryPixel(_ name: String, _ format: Rendition.Format) async throws {
        var rendition = Rendition(width: 64, height: 64, format: .png)
        let source = try await PixelGrid(of: render(name, rendition))
        (rendition.format, rendition.encoding.lossless) = (format, true)
        let written = try await PixelGrid(of: render(name, rendition))
        let isGrey = source.bands < 3
        let all = source.places.allSatisfy { x, y in
            let pixel = source[x, y]
            return written[x, y] == (isGrey ? [pixel[0], pixel[0], pixel[0]] + pixel.dropFirst() : pixel)
        }
        #expect(all)
    }

    /// A decoder that shrinks colours and alpha apart makes fringes.
    @Test func edgesOfATransparentWebPKeepTheirColor() async throws {
        let made = try await PixelGrid(of: render("disc_webp", Rendition(width: 32, height: 32, format: .png)))
        let visible = made.places.map { made[$0.x, $0.y] }.filter { $0[3] > 40 }
        #expect(visible.allSatisfy { abs($0[0] - 20) < 16 && abs($0[2] - 120) < 16 })
    }

    /// Its decoder may shrink it, but only over whole pixels.
    @Test(arguments: ["rings", "even_rings"], [75, 60])
    func webPIsAsSharpAsPNG(_ name: String, _ width: Int) async throws {
        let rendition = Rendition(width: width, format: .png)
        let (one, other) = (try await render(name, rendition), try await render("\(name)_webp", rendition))
        let (png, webp) = (try await PixelGrid(of: one), try await PixelGrid(of: other))
        let squares = png.places.map { x, y in Double((png[x, y][0] - webp[x, y][0]) * (png[x, y][0] - webp[x, y][0])) }
        #expect(squares.reduce(0, +) / Double(squares.count) < 30)
    }

    /// In every frame of it, as browsers show it.
    @Test(arguments: [Rendition.Format.webp, .gif])
    func whatNoFrameCoversIsTransparentInAnAnimationToo(_ format: Rendition.Format) async throws {
        var rendition = Rendition(width: 16, format: format)
        rendition.encoding.animated = true
        let folder = try TemporaryFolder()
        let made = try await render("gif_film_uncovered", rendition)
        let path = try folder.write(made.bytes, to: "film.\(format.rawValue)")
        #expect(made.frames == 2)
        for (page, inside) in [(0, [0, 200, 0]), (1, [0, 0, 255])] {
            let still = folder.path("\(page).png")
            try await Pictures.vips("\(format.rawValue)load", path, still, "--page", "\(page)")
            func pixel(_ x: Int) async throws -> [Double] {
                try await Pictures.vips("getpoint", still, "\(x)", "\(x)").split(separator: " ").compactMap {
                    Double($0)
                }
            }
            #expect(try await pixel(1).last == 0)
            #expect(zip(try await pixel(10), inside + [255]).allSatisfy { abs($0 - Double($1)) <= 48 }, "\(page)")
        }
    }

    @Test func addressesDoNotStayInXMP() async throws {
        var rendition = Rendition(width: 16, format: .jpeg)
        rendition.encoding.keep = [.xmp]
        let bytes = try await render("xmp_address", rendition).bytes
        #expect(bytes.firstRange(of: Data("Ann".utf8)) != nil)
        #expect(bytes.firstRange(of: Data("SECRET".utf8)) == nil)
        rendition.encoding.keep = [.xmp, .gps]
        let kept = try await render("xmp_address", rendition).bytes
        #expect(kept.firstRange(of: Data("SECRET".utf8)) != nil)
    }

    /// Wherever a file says whose it is, the thumbnail says so too, and nothing else of the same text.
    @Test(
        arguments: [
            "rights_in_xmp", "rights_in_iptc", "rights_that_differ", "rights_in_tiff", "rights_in_png", "rights_in_gif",
            "rights_in_xmp_of_gif",
        ],
        [Rendition.Format.jpeg, .webp, .png, .avif, .gif]
    )
    func ownershipStays(_ name: String, _ format: Rendition.Format) async throws {
        var rendition = Rendition(width: 8, format: format)
        rendition.encoding.keep = [.copyright]
        let bytes = try await render(name, rendition).bytes
        func has(_ text: String) -> Bool { bytes.firstRange(of: Data(text.utf8)) != nil }
        #expect(has("© 2026 Ann") && !has("SECRET"))
        #expect(name == "rights_in_gif" || has("Ann\0") || has("Author: Ann") || has("Ann; Bea"))
        #expect(has("© 2025 Ann") == (name == "rights_that_differ"))
        guard format != .gif else {
            #expect(has("Copyright: ©"))
            return
        }
        #expect(has(name == "rights_that_differ" ? "© 2025 Ann; © 2026 Ann</rdf:li>" : "© 2026 Ann</rdf:li>"))
        guard name.hasPrefix("rights_in_xmp") else { return }
        let parts = [
            "<rdf:li>Ann</rdf:li><rdf:li>Bea &lt;b&gt;</rdf:li>", "<photoshop:Credit>Ann &amp; Sons</photoshop:Credit>",
            "<xmpRights:WebStatement>https://ann.example/terms?a=1&amp;b=2</xmpRights:WebStatement>",
            "<xmpRights:Marked>True</xmpRights:Marked>",
        ]
        #expect(parts.filter { !has($0) } == [])
    }

    /// libvips' loader of AVIF leaves text behind that explains nothing.
    @Test func aFailureIsNotExplainedByAnEarlierPicture() async throws {
        let folder = try TemporaryFolder()
        let (before, damaged) = (try await file("avif_p3", in: folder), try await file("noise", in: folder))
        let cut = try folder.write(Data(contentsOf: URL(filePath: damaged)).prefix(3_000), to: "cut")
        var words: [String] = []
        for sources in [[cut], [before, cut]] {
            try await Renderers.withPool { pool in
                for source in sources.dropLast() { _ = try await pool.render(Rendition(width: 16), of: source) }
                words.append(await failure { try await pool.render(Rendition(width: 16), of: cut) }?.message ?? "")
            }
        }
        #expect(words[0] == words[1] && words[0].contains("damaged"))
    }
}
