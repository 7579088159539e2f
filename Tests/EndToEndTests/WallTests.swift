import CameoModel
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The renderers' sandbox as an operator sees it, and the options about untrusted pictures.
    @Suite(.timeLimit(.minutes(10)))
    struct WallTests {
        /// A renderer that runs as if the kernel lacked these layers, which only debug builds can simulate.
        private func rendererWithout(_ layers: String, _ deployment: Deployment) throws -> String {
            let renderer = try Deployment.executable("cameo-renderer")
            let script = "#!/bin/sh\nCAMEO_TEST_WITHOUT=\(layers) exec '\(renderer)' \"$@\"\n"
            let path = try deployment.folder.write(Data(script.utf8), to: "lesser-renderer")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return path
        }

        @Test(arguments: ["Landlock", "seccomp"])
        func requiredSandboxThatIsIncompleteRefusesToStart(_ layer: String) async throws {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "a.jpg")
            let job = try #require(try await deployment.enqueue("pictures/a.jpg --size 64x64").first)
            let renderer = try rendererWithout(layer, deployment)
            let result = try await deployment.drain("--require-sandbox --renderer", renderer)
            #expect(result.exitStatus == 1)
            #expect(result.errorText.contains("sandbox lacks \(layer)"), "\(result.errorText)")
            let waiting = try await deployment.job(job.jobID)
            #expect(waiting.state == .available)
            #expect(waiting.attempt == 0)
        }

        @Test func incompleteSandboxIsOneWarning() async throws {
            let deployment = try Deployment()
            for name in ["a.jpg", "b.jpg", "c.jpg"] {
                try deployment.add(try await Pictures.photo("jpg"), as: name)
                _ = try await deployment.enqueue("pictures/\(name) --size 64x64")
            }
            let renderer = try rendererWithout("Landlock,seccomp", deployment)
            let result = try await deployment.drain("--renderer", renderer, "--render-concurrency", "2")
            #expect(result.exitStatus == 0)
            let warnings = result.errorText.split(separator: "\n").filter { $0.contains("sandbox") }
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains("Landlock and seccomp") == true)
        }

        @Test func completeSandboxIsNotSpokenOf() async throws {
            let deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "a.jpg")
            _ = try await deployment.enqueue("pictures/a.jpg --size 64x64")
            let result = try await deployment.drain("--require-sandbox")
            #expect(result.exitStatus == 0)
            #expect(!result.errorText.contains("sandbox"))
        }

        @Test func allowedFormatsAreDecodedAndOthersRefusedByName() async throws {
            let pdf = try await Pictures.bytes("square.pdf", Array(Self.pdf.utf8))
            for (options, state) in [([], JobState.discarded), (["--allow-format", "jxl,pdf"], .completed)]
                as [([String], JobState)]
            {
                let deployment = try Deployment()
                try deployment.add(pdf, as: "square.pdf")
                let job = try #require(try await deployment.enqueue("pictures/square.pdf --size 64x64").first)
                _ = try await deployment.command(
                    "cameo-worker",
                    ["--drain", "--allow-root", deployment.pictures] + options
                )
                let done = try await deployment.job(job.jobID)
                #expect(done.state == state)
                if state == .discarded {
                    #expect(done.failure?.code == .imageUnsupportedFormat)
                    #expect(done.failure?.message.contains("PDF") == true)
                }
            }
        }

        @Test func toleratedTruncationIsAThumbnail() async throws {
            let cut = try await Pictures.truncated("jpg", share: 0.7)
            for (options, state) in [([], JobState.discarded), (["--tolerate", "truncated"], .completed)]
                as [([String], JobState)]
            {
                let deployment = try Deployment()
                try deployment.add(cut, as: "cut.jpg")
                let job = try #require(try await deployment.enqueue("pictures/cut.jpg --size 64x64").first)
                _ = try await deployment.command(
                    "cameo-worker",
                    ["--drain", "--allow-root", deployment.pictures] + options
                )
                #expect(try await deployment.job(job.jobID).state == state)
            }
        }

        /// One page with a black square. Readers repair the missing table of objects.
        private static let pdf = """
            %PDF-1.4
            1 0 obj
            << /Type /Catalog /Pages 2 0 R >>
            endobj
            2 0 obj
            << /Type /Pages /Kids [3 0 R] /Count 1 >>
            endobj
            3 0 obj
            << /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R >>
            endobj
            4 0 obj
            << /Length 19 >>
            stream
            20 20 60 60 re f   
            endstream
            endobj
            trailer
            << /Size 5 /Root 1 0 R >>
            %%EOF

            """
    }
}
