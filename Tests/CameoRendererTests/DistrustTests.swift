import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// A renderer compromised by a picture can answer anything; the worker believes none of it.
@Suite(.timeLimit(.minutes(10)))
struct DistrustTests {
    private func render(_ script: String) async throws -> (JobFailure?, RendererStatistics) {
        return try await FalseRenderer.withPool(script) { pool in
            let failure = await pool.failure()
            return (failure, pool.statistics)
        }
    }

    @Test(arguments: [
        "s.sendall(b'garbage garbage')",
        "s.sendall(b'PIC1' + struct.pack('<I', 0xFFFFFFFF))",
        "say('PIC1', [1])",
        "hello()",
        "say('JOB1', {})",
        "picture()",
        "picture(rendition(), rendition())",
        "picture(rendition(width=0))",
        "picture(rendition(width=16384))",
        "picture(rendition(format='webp'))",
        "picture(rendition(bytes=0))",
        "picture(rendition(bytes=-5))",
        "picture(rendition(bytes=(64 << 20) + 1))",
        "picture(rendition()); s.sendall(b'notapng!' + PNG[8:])",
        "say('REF1', {'reason': 'because', 'predicate': 'x'})",
        "say('REF1', {'reason': 'corrupt', 'predicate': 'x' * 5000})",
        "picture(rendition(), format='exe'); s.sendall(PNG)",
        "picture(rendition(), format='jpeg'); s.sendall(PNG)",
        "picture(rendition(), truncated=True); s.sendall(PNG)",
        "picture(rendition(frames=2)); s.sendall(PNG)",
        "picture(rendition(frames=0)); s.sendall(PNG)",
        "picture(rendition(placeholder={})); s.sendall(PNG)",
        "picture(rendition(width=2)); s.sendall(PNG)",
        "picture(rendition(height=2)); s.sendall(PNG)",
        "picture(rendition()); s.sendall(PNG[:12] + b'IDAT' + PNG[16:])",
        // Larger than the box; wrong for such a source; a size other than announced; bytes hidden behind the end.
        "data = png(9, 9); picture(rendition(width=9, height=9, bytes=len(data)), width=99, height=99); s.sendall(data)",
        "data = png(8, 9); picture(rendition(width=8, height=9, bytes=len(data)), width=30, height=20); s.sendall(data)",
        "data = png(16383, 16383); picture(rendition(bytes=len(data))); s.sendall(data)",
        "picture(rendition(bytes=len(PNG) + 1)); s.sendall(PNG + b'x')",
        "picture(rendition(bytes=len(PNG) - 1)); s.sendall(PNG[:-1])",
        "data = png(1, 1, chunk(b'acTL', bytes(8))); picture(rendition(bytes=len(data))); s.sendall(data)",
    ])
    func answerThatIsNotToBeBelievedKillsTheChild(_ lie: String) async throws {
        let (failure, statistics) = try await render("hello(); hear(); \(lie); wait()")
        #expect(failure?.code == .renderFailed)
        #expect(failure?.isRetryable == false)
        #expect(statistics.killed == 1)
    }

    /// Values that the queue's tables would refuse or a terminal would obey.
    @Test(arguments: [
        ("thumbHash", ""), ("thumbHash", "abc"), ("thumbHash", "===="), ("thumbHash", "abc="), ("thumbHash", "abcd==="),
        ("thumbHash", "abc\\0d"), ("thumbHash", "ab\\x1b[2Jd"), ("thumbHash", "a" + String(repeating: "b", count: 36)),
        ("thumbHash", "ab-_"), ("blurHash", ""), ("blurHash", "L6Pj0"), ("blurHash", "L6Pj0\\0"),
        ("blurHash", "L6Pj0\\x1b"), ("blurHash", "L6Pj0 "), ("blurHash", "L6Pj0é"),
        ("blurHash", String(repeating: "0", count: 129)), ("dominantColor", "red\\0"),
    ])
    func placeholderThatIsNoneIsNotBelieved(_ name: String, value: String) async throws {
        let (failure, statistics) = try await render(
            """
            hello(); hear(); made = rendition(); made["placeholder"]["\(name)"] = "\(value)"
            picture(made); s.sendall(PNG); wait()
            """
        )
        #expect(failure?.code == .renderFailed)
        #expect(failure?.message.contains(name) == true)
        #expect(statistics.killed == 1)
    }

    /// Control characters, bidirectional marks, line separators; and endless text.
    @Test(arguments: [
        "say('REF1', {'reason': 'failed', 'predicate': TEXT})",
        "sys.stderr.write(TEXT); sys.stderr.flush(); os._exit(9)",
        "sys.stderr.write(TEXT[:400]); sys.stderr.flush(); os._exit(9)",
    ])
    func wordsOfAChildAreCleanedAndCut(_ answer: String) async throws {
        let (failure, _) = try await render(
            """
            TEXT = "bad \\x1b[31m \\x9b \\u202e \\u2066 \\u2028 \\u2029 \\u200b \\ufeff \\x85 \\r\\n \\0" + "x" * 1000
            hello(); hear(); \(answer); wait()
            """
        )
        let message = try #require(failure?.message)
        let start = try #require(message.range(of: failure?.code == .renderFailed ? "png " : "("))
        let words = message[start.upperBound...].unicodeScalars
        #expect(words.count <= 502)
        #expect(words.contains("x"))
        let categories = Set(words.map(\.properties.generalCategory))
        #expect(categories.isDisjoint(with: [.control, .format, .lineSeparator, .paragraphSeparator]))
    }

    @Test(arguments: ["fal\\u202ese", "fal\\x1bse"])
    func versionThatIsNotPrintableStartsNoRenderer(_ version: String) async throws {
        try await FalseRenderer.withPool(
            """
            say("HEL1", {"protocolVersion": 2, "rendererVersion": "\(version)", "sandbox": SANDBOX}); wait()
            """
        ) { pool in
            let error = await #expect(throws: RendererUnavailable.self) { try await pool.waitUntilReady() }
            #expect(error?.description.contains("rendererVersion") == true)
        }
    }

    /// `source` is the source's actual format, with which the child's claim has to agree.
    @Test(arguments: [
        ("jpg", "jpeg", "jpeg", "JPEG", true), ("png", "png", "png", "PNG", true), ("tif", "tiff", "png", "PNG", true),
        ("gif", "gif", "gif", "GIF", true), ("jpg", "png", "png", "PNG", false), ("jpg", "jpeg", "png", "PNG", false),
        ("gif", "gif", "gif", "PNG", false), ("gif", "gif", "webp", "WEBP", false),
    ])
    func sourceFormatIsWhatTheWorkerReadsItself(
        _ ending: String,
        said: String,
        written: String,
        bytes: String,
        isBelieved: Bool
    ) async throws {
        let source = try await Pictures.plain(30, 20, ending)
        try await FalseRenderer.withPool(
            """
            frame = bytes.fromhex("2c00000000010001000002024401003b")
            MAGIC = {"PNG": PNG, "GIF": b"GIF89a\\1\\0\\1\\0\\0\\0\\0" + frame}
            MAGIC["JPEG"] = bytes.fromhex("ffd8ffe00002ffc0000b080001000101011100ffda0008010100003f0000ff00ffd9")
            MAGIC["WEBP"] = b"RIFF\\x12\\0\\0\\0WEBPVP8L\\5\\0\\0\\0/" + bytes(5)
            data = MAGIC["\(bytes)"]
            hello(); hear(); picture(rendition(format="\(written)", bytes=len(data)), format="\(said)")
            s.sendall(data); wait()
            """
        ) { pool in
            let picture = try? await pool.render(Rendition(width: 8, format: .source), of: source)
            #expect((picture != nil) == isBelieved)
            #expect(pool.statistics.killed == (isBelieved ? 0 : 1))
        }
    }

    @Test func renditionOverItsOwnLimitOfBytesIsRefused() async throws {
        try await FalseRenderer.withPool(
            "hello(); hear(); picture(rendition(bytes=129)); s.sendall(long_png(129)); wait()"
        ) { pool in
            var rendition = Rendition(width: 8, format: .png)
            rendition.encoding.maxBytes = 128
            let failure = await failure { try await pool.render(rendition, of: Pictures.plain(30, 20)) }
            #expect(failure?.code == .renderFailed)
            rendition.encoding.maxBytes = 129
            let picture = try await pool.render(rendition, of: Pictures.plain(30, 20))
            #expect(picture.renditions.count == 1)
        }
    }

    /// A data: URI can be as long as a request, so the renderer gets a short name for it, in the job and its
    /// renditions.
    @Test func overlaysTravelInTheirOrderWithTheirNames() async throws {
        // The scheme in capital letters is the same one.
        let long = "DATA:image/png;base64," + String(repeating: "A", count: 900_000)
        let overlays = try (0..<ThumbnailRequest.maximumOverlays).map { index -> RenderOverlay in
            let file = try OpenFile.memory(containing: Data("overlay \(index)".utf8))
            return (source: index == 1 ? long : "file:///\(index).png", file: file, kind: .file)
        }
        let renditions = overlays.map { overlay in
            var rendition = Rendition(width: 8)
            rendition.look.overlay = Rendition.Overlay(source: overlay.source)
            return rendition
        }
        let source = try await OpenFile(reading: Pictures.plain(30, 20))
        try await FalseRenderer.withPool(
            """
            hello(); job, files = hear()
            texts = [os.pread(file, 100, 0).decode() for file in files[1:]]
            drawn = [rendition["overlay"]["source"] for rendition in job["renditions"]]
            say("REF1", {"reason": "failed", "predicate": json.dumps([job["overlays"], drawn, texts])}); wait()
            """
        ) { pool in
            let failure = await failure {
                try await pool.render(renditions, of: source, overlays: overlays, named: "it")
            }
            let names = (0..<8).map { $0 == 1 ? "data:,overlay-1" : "file:///\($0).png" }
            let texts = (0..<8).map { "overlay \($0)" }
            let json = try #require(failure?.message.dropFirst("it ".count))
            #expect(try JSONDecoder().decode([[String]].self, from: Data(json.utf8)) == [names, names, texts])
        }
    }

    @Test func hangingUpWithoutEndingIsACrash() async throws {
        let (failure, _) = try await render("hello(); hear(); s.close(); os.close(0); time.sleep(600)")
        #expect(failure?.code == .renderCrashed)
    }

    @Test func lastWordsOfACrashAreInItsMessage() async throws {
        let script =
            "hello(); hear(); sys.stderr.write('x' * 200000 + '\\nlast words'); sys.stderr.flush(); os._exit(9)"
        let (failure, _) = try await render(script)
        #expect(failure?.code == .renderCrashed)
        #expect(failure?.message.contains("exit code 9") == true)
        #expect(failure?.message.contains("last words") == true)
        #expect((failure?.message.utf8.count ?? 0) < 4_096)
    }

    /// A child must not send anything unasked, because that could be taken for the answer to the next job.
    @Test func wordsBetweenJobsCostTheChildItsLife() async throws {
        try await FalseRenderer.withPool(
            "hello(); hear(); picture(rendition()); s.sendall(PNG); say('REF1', {'reason': 'failed', 'predicate': 'x'}); wait()"
        ) { pool in
            for round in 1...3 {
                let picture = try await pool.render(Rendition(width: 8, format: .png), of: Pictures.plain(30, 20))
                #expect(picture.renditions.count == 1)
                // Otherwise the text could arrive after the next job was sent, as its answer.
                try await eventually("child \(round) is dead") { pool.statistics.crashed >= round }
            }
        }
    }
}
