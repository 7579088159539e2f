import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// The same job gives the same bytes in any process, whatever it rendered before.
@Suite(.timeLimit(.minutes(10)))
struct DeterminismTests {
    static let jobs: [(String, [Rendition])] = {
        func rendition(_ format: Rendition.Format, _ encoding: (inout Rendition.Encoding) -> Void = { _ in })
            -> Rendition
        {
            var rendition = Rendition(width: 400, height: 300, fit: .cover, format: format)
            encoding(&rendition.encoding)
            return rendition
        }
        return [
            ("jpeg", [rendition(.jpeg), rendition(.jpeg) { $0.progressive = true }]),
            ("png", [rendition(.png), rendition(.png) { $0.palette = true }]),
            ("webp", [rendition(.webp), rendition(.webp) { $0.lossless = true }, rendition(.auto)]),
            ("avif", [rendition(.avif), rendition(.avif) { $0.lossless = true }]),
            ("gif", [rendition(.gif)]),
            ("maxBytes", [.jpeg, .webp, .avif].map { rendition($0) { $0.maxBytes = 6_000 } }),
            ("keep", [.jpeg, .png, .webp, .avif].map { rendition($0) { $0.keep = [.exif, .gps, .icc, .xmp] } }),
        ]
    }()

    private func bytes(of renditions: [Rendition], before: [Rendition] = []) async throws -> [Data] {
        let path = try await Pictures.withMetadata()
        return try await Renderers.withPool { pool in
            if !before.isEmpty {
                _ = try await pool.render(before, of: OpenFile(reading: Pictures.disc("png")), named: "disc")
            }
            return try await pool.render(renditions, of: OpenFile(reading: path), named: path).renditions.map(\.bytes)
        }
    }

    @Test(arguments: TestLength.few(jobs, 2))
    func twoProcessesWriteTheSameBytes(_ name: String, renditions: [Rendition]) async throws {
        let first = try await bytes(of: renditions)
        #expect(first.count == renditions.count)
        #expect(try await bytes(of: renditions, before: renditions) == first)
    }

    @Test(arguments: ["gif", "webp"])
    func animationsToo(_ ending: String) async throws {
        let path = try await Pictures.timedAnimation(ending)
        let renditions = [Rendition.Format.gif, .webp].map { format in
            var rendition = Rendition(width: 40, format: format)
            rendition.encoding.animated = true
            return rendition
        }
        var results: [[Data]] = []
        for _ in 0..<2 {
            results.append(
                try await Renderers.withPool { pool in
                    try await pool.render(renditions, of: OpenFile(reading: path), named: path).renditions.map(\.bytes)
                }
            )
        }
        #expect(results[0] == results[1])
    }
}
