import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// JPEG and WebP are written by libjpeg and libwebp themselves: the files must be those that libvips' savers write.
@Suite(.timeLimit(.minutes(10)))
struct SaverTests {
    private static func sources() async throws -> [String] {
        [
            try await Pictures.photo(), try await Pictures.grey("png"), try await Pictures.disc("png"),
            try await Pictures.plain(1, 1),
        ]
    }

    /// The source at its own size, by Cameo and by `saver` of libvips.
    private func both(
        _ format: Rendition.Format,
        of source: String,
        quality: Int?,
        saver: [String],
        encoding: (inout Rendition.Encoding) -> Void
    ) async throws -> (made: Data, saved: Data) {
        var rendition = Rendition(width: 4_000, height: 4_000, format: format, quality: quality)
        rendition.withoutEnlargement = true
        encoding(&rendition.encoding)
        let made = try await rendered(rendition, of: source).bytes
        let words = saver.joined(separator: "_").replacing(/[^a-z0-9_]/, with: "")
        let name = "saved-\(words)-\(URL(filePath: source).lastPathComponent).\(format.rawValue)"
        let path = try await Pictures.converted(source, to: name, by: saver)
        return (made, try Data(contentsOf: URL(filePath: path)))
    }

    @Test(
        arguments: [(75, .quarter, false), (75, .quarter, true), (92, .full, false), (30, .full, true)]
            as [(Int, Rendition.Encoding.ChromaSubsampling, Bool)]
    )
    func jpeg(quality: Int, chroma: Rendition.Encoding.ChromaSubsampling, isProgressive: Bool) async throws {
        for source in try await Self.sources() {
            let (made, saved) = try await both(
                .jpeg,
                of: source,
                quality: quality,
                saver: [
                    "jpegsave", "--Q", "\(quality)", "--subsample-mode", chroma == .full ? "off" : "on",
                    "--optimize-coding", "--strip", "--background", "255",
                ] + (isProgressive ? ["--interlace"] : [])
            ) {
                $0.chromaSubsampling = chroma
                $0.progressive = isProgressive
            }
            #expect(made == saved, "\(source)")
        }
    }

    @Test(arguments: TestLength.few([(75, 4), (30, 0), (100, 6), (nil, 4)] as [(Int?, Int)], 1))
    func webP(quality: Int?, method: Int) async throws {
        let words = quality.map { ["--Q", "\($0)", "--alpha-q", "\(min(100, $0 + 20))"] } ?? ["--lossless"]
        for source in try await Self.sources() {
            let (made, saved) = try await both(
                .webp,
                of: source,
                quality: quality,
                saver: ["webpsave", "--effort", "\(method)", "--strip"] + words
            ) {
                $0.lossless = quality == nil
                if method != 4 { $0.effort = method == 0 ? 1 : 9 }
            }
            // libvips adds EXIF.
            #expect(pixels(of: made) == pixels(of: saved), "\(source)")
        }
    }

    /// The chunks that hold pixels, by name.
    private func pixels(of webP: Data) -> [String: Data] {
        var chunks: [String: Data] = [:]
        var rest = webP.dropFirst(12)
        while rest.count > 8 {
            let name = String(decoding: rest.prefix(4), as: UTF8.self)
            let length = rest.dropFirst(4).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            if ["VP8 ", "VP8L", "ALPH"].contains(name) { chunks[name] = Data(rest.dropFirst(8).prefix(length)) }
            rest = rest.dropFirst(8 + length + length % 2)
        }
        return chunks
    }
}
