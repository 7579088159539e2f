import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// Videos whose bytes come part by part, as the reader needs them.
@Suite(.timeLimit(.minutes(10)), .needsVideo, .ownVideos)
struct PartialVideoTests {
    /// Copies parts of a whole file into one that has holes.
    private final class CopiedParts: VideoParts {
        private static let partBytes = 65_536

        let file: OpenFile
        private let whole: Data
        private let loaded = Mutex(Set<Int>())

        init(of path: String) throws {
            whole = try Data(file: path)
            file = try OpenFile.memory()
            try #require(ftruncate(file.descriptor, off_t(whole.count)) == 0)
            try copy(0)
        }

        var loadedBytes: Int { loaded.withLock(\.count) * Self.partBytes }
        var size: Int { whole.count }

        func load(_ offsets: Set<Int>, _ clock: WorkClock) async throws -> Bool {
            let parts = Set(offsets.map { $0 / Self.partBytes })
            let missing = loaded.withLock { parts.subtracting($0) }
            for part in missing { try copy(part) }
            return !missing.isEmpty
        }

        private func copy(_ part: Int) throws {
            let begin = part * Self.partBytes
            let bytes = Array(whole[begin..<min(whole.count, begin + Self.partBytes)])
            try #require(pwrite(file.descriptor, bytes, bytes.count, off_t(begin)) == bytes.count)
            _ = loaded.withLock { $0.insert(part) }
        }
    }

    /// Large enough to have many parts: there is noise in each frame.
    private func video(_ kind: Videos.Kind) async throws -> String {
        let input = "testsrc2=s=320x240:r=10:d=20,noise=alls=60:allf=t"
        let words = kind.options.words
        let options = ["-f", "lavfi", "-i", input, "-g", "10", "-pix_fmt", "yuv420p"]
        return try await Videos.make(options + words, as: kind.file)
    }

    private static let kinds = [
        Videos.Kind(file: "a.mp4", options: "-c:v libx264"),
        Videos.Kind(file: "faststart.mp4", options: "-c:v libx264 -movflags faststart"),
        Videos.Kind(file: "fragments.mp4", options: "-c:v libx264 -movflags frag_keyframe+empty_moov"),
        Videos.Kind(file: "a.mkv", options: "-c:v libx264"),
        Videos.Kind(file: "a.ts", options: "-c:v mpeg2video -q:v 3"),
        Videos.Kind(file: "a.avi", options: "-c:v mpeg4 -q:v 3"),
        Videos.Kind(file: "a.webm", options: "-c:v libvpx -deadline realtime -b:v 4M"),
        Videos.Kind(file: "a.vob", options: "-c:v mpeg2video -q:v 3 -r 25"),
        Videos.Kind(file: "a.wmv", options: "-c:v wmv2 -q:v 3"),
        Videos.Kind(file: "a.ogv", options: "-c:v libtheora -q:v 8"),
    ]

    private func render(_ wanted: Rendition, of file: OpenFile, _ parts: (any VideoParts)? = nil) async throws
        -> RenderedPicture
    {
        let (request, pools) = (RenderRequest([wanted], of: file, named: "video"), Videos.pools)
        return try await pools.renderer.render(request, frames: pools.frames, loading: parts, clock: WorkClock())
    }

    @Test(arguments: TestLength.few(kinds, whole: 2))
    func thePictureIsThatOfTheWholeVideo(kind: Videos.Kind) async throws {
        let path = try await video(kind)
        var sheet = Videos.rendition("auto")
        sheet.width = 80
        sheet.storyboard = Rendition.Storyboard(columns: 3, rows: 2)
        var exact = Videos.rendition("11.3")
        exact.accurate = true
        let wanted = [Videos.rendition("auto"), Videos.rendition("50%"), Videos.rendition("1000"), exact, sheet]
        for rendition in wanted {
            let parts = try CopiedParts(of: path)
            let whole = try await render(rendition, of: try OpenFile(reading: path))
            let partial = try await render(rendition, of: parts.file, parts)
            #expect(partial.renditions[0].bytes == whole.renditions[0].bytes)
            #expect(partial.source == whole.source)
            // The fragments of a storyboard are counted by reading them all. Other searches begin a second earlier.
            let without = ["fragments.mp4", "a.ts", "a.vob", "a.wmv"]
            let readsAll = rendition.storyboard != nil && without.contains(kind.file)
            #expect(readsAll || parts.loadedBytes < parts.size / 2, "\(parts.loadedBytes) of \(parts.size)")
        }
    }

    /// Of a file on a disk, holes are zeros as for any other program.
    @Test func holesOfAWholeFileAreZeros() async throws {
        let path = try await video(Self.kinds[0])
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let length = try file.seekToEnd()
        try file.truncate(atOffset: length + 1 << 20)
        let picture = try await render(Videos.rendition("50%"), of: try OpenFile(reading: path))
        #expect(picture.renditions.count == 1)
    }

    /// How a video fails of which the first part is there.
    private func failure(loading rest: any VideoParts) async throws -> JobFailure? {
        let parts = try CopiedParts(of: try await video(Self.kinds[0]))
        return await #expect(throws: JobFailure.self) {
            _ = try await render(Videos.rendition("auto"), of: parts.file, rest)
        }
    }

    /// A failure of what loads the parts is the job's.
    @Test func whatCannotBeLoadedFailsTheJob() async throws {
        struct NoParts: VideoParts {
            let loadedBytes = 0

            func load(_ offsets: Set<Int>, _ clock: WorkClock) async throws -> Bool {
                #expect(!offsets.isEmpty)
                throw JobFailure(.sourceUnreachable, at: .fetch, "gone")
            }
        }
        #expect(try await failure(loading: NoParts())?.code == .sourceUnreachable)
    }

    /// A reader that asks again for what is there makes no progress.
    @Test func aReaderThatLacksWhatIsThereIsEnded() async throws {
        struct SameParts: VideoParts {
            let loadedBytes = 0

            func load(_ offsets: Set<Int>, _ clock: WorkClock) async throws -> Bool { false }
        }
        let failure = try await failure(loading: SameParts())
        #expect(failure?.code == .renderFailed && failure?.message.contains("lacks bytes that are there") == true)
    }
}
