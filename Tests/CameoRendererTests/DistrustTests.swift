import CameoModel
import CameoRenderer
import TestSupport
import Testing

/// A renderer that was taken over by a picture can say what it wants; the worker believes none of it.
@Suite(.timeLimit(.minutes(2)))
struct DistrustTests {
    private func render(_ script: String) async throws -> (JobFailure?, RendererStatistics) {
        let renderer = try FalseRenderer(script)
        let configuration = RendererConfiguration(executable: renderer.path, processes: 1)
        return try await Renderers.withPool(configuration) { pool in
            let failure = await failure {
                try await pool.render(Rendition(width: 8, format: .png), of: Pictures.plain(30, 20))
            }
            return (failure, pool.statistics)
        }
    }

    @Test(arguments: [
        "s.sendall(b'garbage garbage')",
        "s.sendall(b'PIC1' + struct.pack('<I', 0xFFFFFFFF))",
        "say('PIC1', [1])",
        "say('HEL1', {'protocolVersion': 1, 'rendererVersion': 'again'})",
        "say('JOB1', {})",
        "picture()",
        "picture(rendition(), rendition())",
        "picture(rendition(width=0))",
        "picture(rendition(width=16384))",
        "picture(rendition(format='webp'))",
        "picture(rendition(bytes=0))",
        "picture(rendition(bytes=-5))",
        "picture(rendition(bytes=(64 << 20) + 1))",
        "picture(rendition()); s.sendall(b'notapng!')",
        "say('REF1', {'reason': 'because', 'predicate': 'x'})",
        "say('REF1', {'reason': 'corrupt', 'predicate': 'x' * 5000})",
        "say('PIC1', {'source': {'format': 'exe', 'width': 1, 'height': 1, 'pages': 1, 'hasAlpha': False}, "
            + "'renditions': [rendition()]}); s.sendall(PNG)",
    ])
    func answerThatIsNotToBeBelievedKillsTheChild(_ lie: String) async throws {
        let (failure, statistics) = try await render("hello(); hear(); \(lie); wait()")
        #expect(failure?.code == .renderFailed)
        #expect(failure?.isRetryable == false)
        #expect(statistics.killed == 1)
    }

    @Test func hangingUpWithoutEndingIsACrash() async throws {
        let (failure, _) = try await render("hello(); hear(); s.close(); os.close(0); time.sleep(60)")
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

    @Test func largeHonestAnswerArrives() async throws {
        let renderer = try FalseRenderer(
            "hello(); hear(); picture(rendition(bytes=20 << 20)); s.sendall(PNG + bytes((20 << 20) - 8)); wait()"
        )
        let configuration = RendererConfiguration(executable: renderer.path, processes: 1)
        try await Renderers.withPool(configuration) { pool in
            let picture = try await pool.render(Rendition(width: 8, format: .png), of: Pictures.plain(30, 20))
            #expect(picture.renditions[0].bytes.count == 20 << 20)
        }
    }

    /// A child may not speak unasked: what it says then could be taken for the answer to the next job.
    @Test func wordsBetweenJobsCostTheChildItsLife() async throws {
        let renderer = try FalseRenderer(
            "hello(); hear(); picture(rendition()); s.sendall(PNG); say('REF1', {'reason': 'failed', 'predicate': 'x'}); wait()"
        )
        let configuration = RendererConfiguration(executable: renderer.path, processes: 1)
        try await Renderers.withPool(configuration) { pool in
            for _ in 0..<3 {
                let picture = try await pool.render(Rendition(width: 8, format: .png), of: Pictures.plain(30, 20))
                #expect(picture.renditions.count == 1)
            }
        }
    }
}
