import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// The effect of each encoding option, read from the output bytes.
@Suite(.timeLimit(.minutes(10)))
struct EncodingTests {
    private func rendered(
        _ format: Rendition.Format,
        of path: String,
        quality: Int? = nil,
        width: Int = 240,
        _ encoding: (inout Rendition.Encoding) -> Void = { _ in }
    ) async throws -> EncodedRendition {
        var rendition = Rendition(width: width, height: width, format: format, quality: quality)
        encoding(&rendition.encoding)
        return try await render(rendition, of: path).renditions[0]
    }

    /// The start of frame: baseline or progressive, components, and the first one's sampling factors. Nil if missing.
    private func frame(of jpeg: Data) -> (marker: UInt8, components: UInt8, sampling: UInt8)? {
        let bytes = Array(jpeg)
        var position = 2
        while position + 12 < bytes.count {
            let marker = bytes[position + 1]
            if marker == 0xC0 || marker == 0xC2 { return (marker, bytes[position + 9], bytes[position + 11]) }
            position += 2 + (Int(bytes[position + 2]) << 8 | Int(bytes[position + 3]))
        }
        return nil
    }

    private func contains(_ rendition: EncodedRendition, _ name: String) -> Bool {
        rendition.bytes.range(of: Data(name.utf8)) != nil
    }

    @Test func progressiveIsProgressive() async throws {
        let photo = try await Pictures.photo()
        #expect(try await frame(of: rendered(.jpeg, of: photo).bytes)?.marker == 0xC0)
        let made = try await rendered(.jpeg, of: photo) { $0.progressive = true }
        #expect(frame(of: made.bytes)?.marker == 0xC2)
    }

    @Test(
        arguments: [
            (80, nil, 0x22), (89, nil, 0x22), (90, nil, 0x11), (95, .quarter, 0x22), (50, .full, 0x11),
        ] as [(Int, Rendition.Encoding.ChromaSubsampling?, UInt8)]
    )
    func chromaSubsampling(
        _ quality: Int,
        _ chroma: Rendition.Encoding.ChromaSubsampling?,
        sampling: UInt8
    ) async throws {
        let photo = try await Pictures.photo()
        let jpeg = try await rendered(.jpeg, of: photo, quality: quality) { $0.chromaSubsampling = chroma }
        #expect(frame(of: jpeg.bytes)?.sampling == sampling)
        let avif = try await rendered(.avif, of: photo, quality: quality) { $0.chromaSubsampling = chroma }
        // av1C (AV1-ISOBMFF 2.3.3): the third byte's bits 3 and 2.
        let box = try #require(avif.bytes.range(of: Data("av1C".utf8)))
        #expect(avif.bytes[box.upperBound + 2] & 0x0C == (sampling == 0x22 ? 0x0C : 0))
    }

    @Test func greyStaysGrey() async throws {
        let grey = try await Pictures.grey("jpg")
        #expect(try await frame(of: rendered(.jpeg, of: grey).bytes)?.components == 1)
        #expect(try await Specimen(rendered(.png, of: grey)).summary.contains("1 band, b-w"))
    }

    @Test(arguments: [Rendition.Format.png, .webp, .avif, .gif])
    func effortMakesItSmaller(_ format: Rendition.Format) async throws {
        let photo = try await Pictures.photo()
        let sizes = try await [1, 9].asyncMap { effort in
            try await rendered(format, of: photo) { $0.effort = effort }.bytes.count
        }
        #expect(sizes[1] < sizes[0])
    }

    @Test func everyEffortWorks() async throws {
        let disc = try await Pictures.disc("png")
        for format in [Rendition.Format.png, .webp, .avif, .gif] {
            for effort in Rendition.Encoding.effortRange {
                let made = try await rendered(format, of: disc, width: 24) { $0.effort = effort }
                #expect(made.edges == [24, 16])
            }
        }
    }

    @Test func paletteHas256ColorsAtMost() async throws {
        let photo = try await Pictures.photo()
        let whole = try await rendered(.png, of: photo)
        let made = try await rendered(.png, of: photo) { $0.palette = true }
        let coarse = try await rendered(.png, of: photo, quality: 2) { $0.palette = true }
        // Bit depth and colour type.
        #expect(Array(whole.bytes[24...25]) == [8, 2])
        #expect(made.bytes[25] == 3 && coarse.bytes[25] == 3)
        #expect(made.bytes.count < whole.bytes.count / 2)
        #expect(coarse.bytes.count < made.bytes.count)
        let reference = try await Specimen(whole)
        #expect(try await Specimen(made).difference(to: reference.path) < 8)
    }

    @Test(arguments: [("photo", Rendition.Format.webp), ("disc", .webp), ("photo", .avif), ("disc", .avif)])
    func losslessIsLossless(_ input: String, _ format: Rendition.Format) async throws {
        let path = try await input == "photo" ? Pictures.photo() : Pictures.disc("png")
        let made = try await rendered(format, of: path) { $0.lossless = true }
        let reference = try await Specimen(rendered(.png, of: path))
        let specimen = try await Specimen(made)
        // Colours behind transparent pixels are invisible and not kept.
        let difference = try await specimen.flattened().worst(to: reference.flattened())
        #expect(difference == 0)
        if format == .webp { #expect(contains(made, "VP8L")) }
    }

    @Test func nearLosslessIsNearlySo() async throws {
        let photo = try await Pictures.photo()
        let reference = try await Specimen(rendered(.png, of: photo)).flattened()
        func worst(_ made: EncodedRendition) async throws -> Int {
            try await Int(Specimen(made).flattened().worst(to: reference))
        }
        let lossless = try await rendered(.webp, of: photo) { $0.lossless = true }
        let exact = try await rendered(.webp, of: photo, quality: 100) { $0.nearLossless = true }
        let near = try await rendered(.webp, of: photo) { $0.nearLossless = true }
        let coarse = try await rendered(.webp, of: photo, quality: 1) { $0.nearLossless = true }
        for made in [exact, near, coarse] { #expect(contains(made, "VP8L")) }
        #expect(try await worst(exact) == 0)
        #expect(try await (1...16).contains(worst(near)))
        #expect(coarse.bytes.count < near.bytes.count && near.bytes.count < lossless.bytes.count)
    }

    @Test func autoIsLosslessWhereThatIsSmaller() async throws {
        let plain = try await Pictures.plain(400, 300)
        let lossy = try await rendered(.webp, of: plain)
        let made = try await rendered(.auto, of: plain)
        #expect(contains(made, "VP8L"))
        #expect(made.bytes.count < lossy.bytes.count)
        // Lossless is not tried for anything but graphics: the photograph is ruled out by its colours, the JPEG by its
        // format.
        #expect(try await rendered(.auto, of: Pictures.photo()).bytes == rendered(.webp, of: Pictures.photo()).bytes)
        let jpeg = try await Pictures.plain(400, 300, "jpg")
        #expect(contains(try await rendered(.auto, of: jpeg), "VP8 "))
    }

    @Test(arguments: [Rendition.Format.png, .webp, .avif, .gif])
    func opaqueAlphaIsDropped(_ format: Rendition.Format) async throws {
        let opaque = try await Pictures.opaqueAlpha()
        let made = try await rendered(format, of: opaque)
        #expect(!made.hasAlpha)
        if format != .gif { #expect(try await Specimen(made).summary.contains("3 bands")) }
        let disc = try await rendered(format, of: Pictures.disc("png"))
        #expect(disc.hasAlpha)
        #expect(try await Specimen(disc).summary.contains("4 bands"))
        #expect(try await !rendered(.jpeg, of: Pictures.disc("png")).hasAlpha)
    }

    @Test func defaultQualitiesAreThoseThatAreDocumented() async throws {
        let photo = try await Pictures.photo()
        for (format, quality) in [(Rendition.Format.jpeg, 80), (.webp, 80), (.avif, 50)] {
            let asked = try await rendered(format, of: photo, quality: quality)
            #expect(try await rendered(format, of: photo).bytes == asked.bytes)
            #expect(try await rendered(format, of: photo, quality: quality + 5).bytes.count > asked.bytes.count)
        }
    }
}

extension Specimen {
    /// The pixels on white, so that invisible differences do not count.
    fileprivate func flattened() async throws -> Specimen.Flat {
        guard summary.contains("4 bands") else { return Flat(path: path, owner: self) }
        let flat = try await beside("flat.png") {
            try await Pictures.vips("flatten", path, $0, "--background", "255 255 255")
        }
        return Flat(path: flat, owner: self)
    }

    fileprivate struct Flat {
        let path: String
        let owner: Specimen

        /// The largest difference of any band of any pixel.
        func worst(to other: Flat) async throws -> Double {
            let difference = try await owner.beside("worst.v") {
                try await Pictures.vips("subtract", path, other.path, "\($0)-s.v")
                try await Pictures.vips("abs", "\($0)-s.v", $0)
            }
            return Double(try await Pictures.vips("max", difference)) ?? .nan
        }
    }
}
