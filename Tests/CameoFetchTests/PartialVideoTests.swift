import CameoFetch
import CameoModel
import CameoSystem
import Foundation
import Glibc
import TestSupport
import Testing

/// Large videos of HTTP servers, loaded part by part.
@Suite(.timeLimit(.minutes(10)))
struct PartialVideoTests {
    private static let size = 64 << 20
    private static let part = 1 << 20
    private let folder: TemporaryFolder
    private let origin: Origin

    init() async throws {
        folder = try TemporaryFolder()
        origin = try await Origin.start(serving: folder.path)
        try Self.make("film", startingWith: Self.start, in: folder)
    }

    private static let start = Array("\0\0\0\u{18}ftypisom".utf8)

    /// A sparse file; at its beginning and in its middle are some bytes.
    private static func make(_ name: String, startingWith start: [UInt8], size: Int = size, in folder: TemporaryFolder)
        throws
    {
        try folder.write(Data(start), to: name)
        let file = try #require(FileHandle(forUpdatingAtPath: folder.path(name)))
        try file.truncate(atOffset: UInt64(size))
        try file.seek(toOffset: UInt64(size / 2))
        try file.write(contentsOf: Data("in the middle".utf8))
    }

    private func fetch(
        _ query: String,
        _ configuration: FetchConfiguration = .forTests.with(\.loadsVideosInParts, true),
        ticket: FetchTicket? = FetchTicket(sourceSeen: 5, after: 4, isFirstAttempt: true)
    ) async throws -> FetchedSource {
        // The source keeps the fetcher as long as it needs it.
        try await Fetcher(configuration).fetch(origin.url("/parts?file=\(query)"), ticket: ticket)
    }

    private func text(of source: FetchedSource, at offset: Int, count: Int) -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        #expect(pread(source.file.descriptor, &bytes, count, off_t(offset)) == count)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func hasHole(_ source: FetchedSource, at offset: Int) -> Bool {
        // SEEK_DATA, which Glibc's module does not have.
        lseek(source.file.descriptor, off_t(offset), 3) != off_t(offset)
    }

    @Test func onlyThePartsThatAreNeededAreLoaded() async throws {
        let source = try await fetch("film")
        let parts = try #require(source.parts)
        #expect(source.bytes == Self.size && parts.loadedBytes == Self.part)
        #expect(!hasHole(source, at: 0) && hasHole(source, at: Self.part))
        let middle = Self.size / 2
        #expect(try await parts.load([middle + 5, middle + 7, Self.size - 1], WorkClock()))
        #expect(text(of: source, at: middle, count: 13) == "in the middle")
        #expect(parts.loadedBytes == 3 * Self.part)
        #expect(!hasHole(source, at: Self.size - 1) && hasHole(source, at: Self.size - Self.part - 1))
        // What is there, or lies beyond the end, is not requested.
        #expect(try await !parts.load([0, middle, Self.size, .max], WorkClock()))
        #expect(try await origin.counts().requests["/parts"] == 4)
        // Its reader cannot write.
        #expect(pwrite(source.file.descriptor, "x", 1, 0) == -1)
    }

    @Test func oneVersionHasOneDigest() async throws {
        let first = try await fetch("film")
        let second = try await fetch("film")
        #expect(first.digest == second.digest)
        let changed = try await fetch("film&changed=1")
        #expect(changed.parts != nil && changed.digest != first.digest)
    }

    @Test func aVideoThatChangesMeanwhileIsNoMixture() async throws {
        let source = try await fetch("film&changed=2")
        let failure = await #expect(throws: JobFailure.self) {
            _ = try await source.parts?.load([Self.size - 1], WorkClock())
        }
        #expect(failure?.code == .sourceChanged && failure?.isRetryable == true)
    }

    @Test func theLimitIsThatOfWhatIsLoaded() async throws {
        let configuration = FetchConfiguration.forTests.with(\.loadsVideosInParts, true).with(\.maximumBytes, 2 << 20)
        let source = try await fetch("film", configuration)
        let parts = try #require(source.parts)
        #expect(try await parts.load([Self.part], WorkClock()))
        let failure = await #expect(throws: JobFailure.self) { _ = try await parts.load([Self.size / 2], WorkClock()) }
        #expect(failure?.code == .sourceTooLarge)
        #expect(failure?.message.contains("needs more than the allowed 2097152 of its 67108864 bytes") == true)
    }

    @Test func aServerThatSendsNoPartsIsAskedForTheWhole() async throws {
        let source = try await fetch("film&ignored=1")
        #expect(source.parts == nil && source.bytes == Self.size)
        #expect(text(of: source, at: Self.size / 2, count: 13) == "in the middle")
        #expect(try await origin.counts().requests["/parts"] == 3)
    }

    @Test func everythingElseIsDownloadedAsAWhole() async throws {
        try Self.make("picture", startingWith: [0xFF, 0xD8, 0xFF, 0xE0], in: folder)
        try Self.make("short", startingWith: Self.start, size: 4 << 20, in: folder)
        for name in ["picture", "short"] {
            let source = try await fetch(name)
            #expect(source.parts == nil, "\(name)")
        }
        #expect(try await fetch("film", .forTests).parts == nil)
        #expect(try await fetch("film", ticket: nil).parts == nil)
        #expect(try await origin.counts().requests["/parts"] == 4)
    }

    /// What is larger than allowed is looked at, as it may be a video.
    @Test func aLargePictureIsTooLarge() async throws {
        try Self.make("picture", startingWith: [0xFF, 0xD8, 0xFF, 0xE0], in: folder)
        let configuration = FetchConfiguration.forTests.with(\.loadsVideosInParts, true).with(\.maximumBytes, 9 << 20)
        #expect(try await fetch("film", configuration).parts != nil)
        let failure = await #expect(throws: JobFailure.self) { _ = try await fetch("picture", configuration) }
        #expect(failure?.code == .sourceTooLarge)
        #expect(failure?.message.contains("has 67108864 bytes, more than the allowed 9437184") == true)
    }
}
