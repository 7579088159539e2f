import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

/// Pictures that are intact and small as files, but need more memory than is available: `render.outOfMemory`, whatever
/// their decoders report.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct MemoryTests {
    /// Many pixels of one colour, each in the form that makes its decoder hold the most of them at once.
    enum Bomb: String, CaseIterable {
        case interlacedPNG = "bomb.png"
        case progressiveJPEG = "bomb.jpg"
        /// A file of four tiles.
        case tiff = "bomb.tif"
        case webp = "bomb.webp"

        private var saver: [String] {
            switch self {
            case .interlacedPNG: ["pngsave", "--interlace", "--compression", "1"]
            case .progressiveJPEG: ["jpegsave", "--interlace"]
            case .tiff:
                ["tiffsave", "--compression", "deflate", "--tile", "--tile-width", "4096", "--tile-height", "4096"]
            case .webp: ["webpsave", "--lossless", "--effort", "0"]
            }
        }

        func path() async throws -> String {
            let pixels = try await Pictures.blank(6_144, 6_144)
            return try await Pictures.converted(pixels, to: rawValue, by: saver)
        }
    }

    @Test(arguments: TestLength.few(Bomb.allCases), TestLength.few([320, 352, 448], 1, whole: 2))
    func pictureOverTheMemoryLimitIsOutOfMemoryAndNothingElse(_ bomb: Bomb, mebibytes: Int) async throws {
        var configuration = Renderers.configuration(processes: 1)
        configuration.memoryLimitBytes = mebibytes << 20
        configuration.timeout = .seconds(300)
        let path = try await bomb.path()
        try await Renderers.withPool(configuration) { pool in
            do {
                let picture = try await pool.render(Rendition(width: 64, format: .png), of: path)
                #expect(picture.renditions[0].edges == [64, 64])
            } catch let failure as JobFailure {
                #expect(failure.code == .renderOutOfMemory, "\(failure.message)")
                #expect(failure.message.contains("\(mebibytes) MiB"))
            }
            let small = try await pool.render(Rendition(width: 64, format: .png), of: Pictures.photo("jpg"))
            #expect(small.renditions[0].edges == [64, 43])
        }
    }

    /// The same files render with enough memory, so the table above is about memory.
    @Test(arguments: Bomb.allCases)
    func theSamePictureIsRenderedWhereThereIsRoom(_ bomb: Bomb) async throws {
        let picture = try await Renderers.shared.get()
            .render(Rendition(width: 64, format: .png), of: bomb.path(), timeout: .seconds(300))
        #expect(picture.renditions[0].edges == [64, 64])
    }

    /// The child's own report counts less than its memory as the worker reads it: from three quarters of the limit on,
    /// a decoder that ran out of memory may report anything.
    @Test(arguments: [
        ("corrupt", 800, JobFailure.Code.renderOutOfMemory), ("corrupt", 100, .imageCorrupt),
        ("failed", 800, .renderOutOfMemory), ("failed", 100, .renderFailed),
        ("unsupportedFormat", 800, .renderOutOfMemory), ("unsupportedFormat", 100, .imageUnsupportedFormat),
        ("tooManyPixels", 800, .imageTooManyPixels), ("outOfMemory", 100, .renderOutOfMemory),
    ])
    func refusalNearTheLimitIsOutOfMemory(_ reason: String, mebibytes: Int, code: JobFailure.Code) async throws {
        let renderer = try FalseRenderer(
            """
            import mmap
            hello(); hear(); held = mmap.mmap(-1, \(mebibytes) << 20)
            say("REF1", {"reason": "\(reason)", "predicate": "x"}); wait()
            """
        )
        var configuration = RendererConfiguration(executable: renderer.path, processes: 1)
        configuration.memoryLimitBytes = 1_024 << 20
        try await Renderers.withPool(configuration) { pool in
            let failure = await pool.failure()
            #expect(failure?.code == code)
        }
    }

    /// After a stack overflow there is no stack for the handler that reports the memory.
    @Test func overflowOfTheStackLeavesItsNote() async throws {
        let path = try await Pictures.bytes("OVERFLOW.jpg", Array("CAMEO-TEST-OVERFLOW".utf8))
        try await Renderers.withPool { pool in
            let failure = await failure { try await pool.render(Rendition(width: 64), of: path) }
            #expect(failure?.code == .renderOutOfMemory, "\(failure?.message ?? "")")
        }
    }

    /// As by the kernel's OOM killer: the resident memory is known nevertheless.
    @Test(arguments: [(400, JobFailure.Code.renderOutOfMemory), (8, .renderCrashed)])
    func deathWithoutANoteIsJudgedByWhatWasResident(mebibytes: Int, code: JobFailure.Code) async throws {
        let renderer = try FalseRenderer(
            "hello(); hear(); held = b'1' * (\(mebibytes) << 20); os.kill(os.getpid(), 9)"
        )
        var configuration = RendererConfiguration(executable: renderer.path, processes: 1)
        configuration.memoryLimitBytes = 512 << 20
        try await Renderers.withPool(configuration) { pool in
            let failure = await pool.failure()
            #expect(failure?.code == code, "\(failure?.message ?? "")")
        }
    }

    /// A process's peak never falls, so the picture after a large one must not be blamed for it.
    @Test func pictureAfterALargeOneIsJudgedByItsOwnNeeds() async throws {
        let renderer = try FalseRenderer(
            """
            import mmap
            hello()
            while True:
                job, files = hear()
                if job["renditions"][0]["width"] == 8:
                    mmap.mmap(-1, 800 << 20).close()
                    picture(rendition()); s.sendall(PNG)
                else:
                    say("REF1", {"reason": "corrupt", "predicate": "x"})
            """
        )
        var configuration = RendererConfiguration(executable: renderer.path, processes: 1)
        configuration.memoryLimitBytes = 1_024 << 20
        try await Renderers.withPool(configuration) { pool in
            let picture = try await pool.render(Rendition(width: 8, format: .png), of: Pictures.plain(30, 20))
            #expect(picture.renditions.count == 1)
            let failure = await failure { try await pool.render(Rendition(width: 9), of: Pictures.plain(30, 20)) }
            #expect(failure?.code == .imageCorrupt)
        }
    }

    @Test func aDamagedPictureIsStillCorruptWhereMemoryWasNotShort() async throws {
        let path = try await Pictures.truncated("png", share: 0.5)
        let failure = await failure { try await render(Rendition(width: 64), of: path) }
        #expect(failure?.code == .imageCorrupt)
    }
}
