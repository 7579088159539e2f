import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Jobs with a second picture, such as a watermark.
    @Suite(.timeLimit(.minutes(10)))
    struct OverlayTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try await Deployment.withPhoto()
            // Copies, because a test changes them.
            for (name, kind) in [("mark.png", "png"), ("other.webp", "webp")] {
                let picture = try Data(contentsOf: URL(filePath: try await Pictures.disc(kind)))
                try picture.write(to: URL(filePath: "\(deployment.pictures)/\(name)"))
            }
        }

        private func uri(_ name: String) -> String { "file://\(deployment.pictures)/\(name)" }

        /// Enqueues one lossless rendition of 120 × 90 pixels for each overlay; nil means none.
        private func enqueue(
            _ overlays: String?...,
            source: String? = nil,
            headers: [String: String] = [:]
        ) async throws -> EnqueueReceipt {
            let renditions = overlays.enumerated().map { index, overlay in
                var rendition = Rendition(name: "r\(index)", width: 120, height: 90, fit: .fill, format: .png)
                rendition.look.overlay = overlay.map {
                    Rendition.Overlay(source: $0, opacity: 0.5 + 0.1 * Double(index))
                }
                return rendition
            }
            let request = ThumbnailRequest(
                source: source ?? uri("photo.jpg"),
                renditions: renditions,
                maxAttempts: 1,
                headers: headers
            )
            let text = Data(request.json.canonicalText.utf8)
            return try #require(try await deployment.enqueue("--request -", input: text).first)
        }

        private func bytes(_ thumbnail: RequestedThumbnail) async throws -> Data {
            try await deployment.command("cameo-status", ["cat", thumbnail.uri.text]).standardOutput
        }

        @Test func overlaysOfEveryKindAreDrawn() async throws {
            let mark = try Data(contentsOf: URL(filePath: "\(deployment.pictures)/mark.png"))
            let stored = try #require(try await deployment.enqueue("--data --size 8x8", input: mark).first)
            let origin = try await Origin.start(serving: deployment.pictures)
            let receipt = try await enqueue(
                nil,
                uri("mark.png"),
                "data:image/png;base64,\(mark.base64EncodedString())",
                stored.source,
                origin.url("/mark.png?file=mark.png")
            )
            try await deployment.drain("--allow-network 127.0.0.0/8").succeeded()
            let job = try await deployment.job(receipt.jobID)
            var seen: Set<Data> = []
            for thumbnail in job.thumbnails {
                #expect((thumbnail.width, thumbnail.height) == (120, 90))
                seen.insert(try await bytes(thumbnail))
            }
            // Each differs from the one without an overlay, and by its opacity from the others.
            #expect(seen.count == 5)
            let photo = try Data(contentsOf: URL(filePath: "\(deployment.pictures)/photo.jpg"))
            #expect(job.attempts?.last?.sourceBytes == photo.count + 4 * mark.count)
        }

        @Test func overlayIsFetchedOnceAndWithoutTheHeadersOfTheSource() async throws {
            let origin = try await Origin.start(serving: deployment.pictures)
            // At the source's own origin, where a redirect would have kept the headers.
            let mark = origin.url("/mark.png?file=mark.png&refuses=X-Secret")
            let receipt = try await enqueue(
                mark,
                mark,
                source: origin.url("/photo.jpg?file=photo.jpg&needs=X-Secret"),
                headers: ["X-Secret": "source's"]
            )
            try await deployment.drain("--allow-network 127.0.0.0/8").succeeded()
            #expect(try await deployment.job(receipt.jobID).state == .completed)
            #expect(try await origin.counts().requests == ["/mark.png": 1, "/photo.jpg": 1])
        }

        @Test func changedOverlayReplacesTheThumbnail() async throws {
            let path = "\(deployment.pictures)/mark.png"
            func make() async throws -> [Data] {
                let receipt = try await enqueue(nil, uri("mark.png"))
                try await deployment.drain().succeeded()
                var data: [Data] = []
                for thumbnail in try await deployment.job(receipt.jobID).thumbnails {
                    data.append(try await bytes(thumbnail))
                }
                return data
            }
            let first = try await make()
            #expect(first[0] != first[1])
            #expect(try await make() == first)
            let red = Data(
                "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'><rect width='40' height='40' fill='red'/></svg>"
                    .utf8
            )
            try red.write(to: URL(filePath: path))
            let second = try await make()
            #expect(second[0] == first[0])
            #expect(second[1] != first[1])
        }

        @Test func overlayThatChangesWhileTheJobRunsFailsIt() async throws {
            let origin = try await Origin.start(serving: deployment.pictures)
            // The second overlay keeps the job waiting after the first has been read.
            let receipt = try await enqueue(uri("mark.png"), origin.url("/held?file=other.webp"))
            async let drained = deployment.drain("--allow-network 127.0.0.0/8")
            try await origin.awaitArrivals(of: "/held")
            let path = URL(filePath: "\(deployment.pictures)/mark.png")
            try (Data(contentsOf: path) + Data([0])).write(to: path)
            try await origin.release()
            #expect(try await drained.exitStatus == 1)
            let failure = try #require(try await deployment.job(receipt.jobID).failure)
            #expect(failure.code == .sourceChanged)
            #expect(failure.message.contains("overlay") && failure.message.contains("/mark.png changed"))
        }

        /// Each fails its own job, with the overlay's name and the code that a source would have.
        @Test func overlayThatCannotBeUsedFailsTheJobByName() async throws {
            try Data("Dear Sir or Madam,\n".utf8).write(to: URL(filePath: "\(deployment.pictures)/text.png"))
            let cut = try Data(contentsOf: URL(filePath: try await Pictures.truncated("png", share: 0.5)))
            try cut.write(to: URL(filePath: "\(deployment.pictures)/cut.png"))
            let origin = try await Origin.start(serving: deployment.pictures)
            let cases: [(String, JobFailure.Code, String)] = [
                (uri("none.png"), .sourceNotFound, "/none.png does not exist"),
                ("file:///etc/hostname", .sourceForbidden, "/etc/hostname is outside the allowed folders"),
                (uri("text.png"), .imageUnsupportedFormat, "/text.png"),
                (uri("cut.png"), .imageCorrupt, "/cut.png"),
                (origin.url("/mark.png?file=mark.png", host: "127.0.0.2"), .sourceForbidden, "127.0.0.2"),
                (origin.url("/status/404"), .sourceNotFound, "/status/404"),
                ("ftp://pictures.example/mark.png", .sourceUnsupportedScheme, "ftp://pictures.example/mark.png"),
                ("cameo://blob/sha256-\(String(repeating: "0", count: 64))", .sourceNotFound, "sha256-000"),
                ("file://\(deployment.store)/cameo.sqlite", .sourceForbidden, "belongs to the store"),
            ]
            // Inserted by SQL, because cameo-enqueue refuses mistakes that it can see.
            _ = try await enqueue(nil)
            var ids: [String] = []
            for (overlay, _, _) in cases {
                let request = #"""
                    {"source":"\#(uri("photo.jpg"))","maxAttempts":1,
                    "renditions":[{"name":"a","width":9},{"name":"b","width":9,"overlay":{"source":"\#(overlay)"}}]}
                    """#
                ids.append(
                    try await deployment.sql(
                        "INSERT INTO job(request) VALUES ('\(request)'); SELECT last_insert_rowid();"
                    )
                )
            }
            let drained = try await deployment.drain(
                "--allow-root",
                deployment.store,
                "--allow-network",
                "127.0.0.1/32"
            )
            #expect(drained.exitStatus == 1, "\(drained.errorText)")
            for (id, (overlay, code, text)) in zip(ids, cases) {
                let job = try await deployment.job(try #require(Int64(id)))
                #expect((job.state, job.failure?.code) == (.discarded, code), "\(overlay)")
                let message = try #require(job.failure?.message)
                #expect(message.contains("overlay") && message.contains(text), "\(message)")
                // Nor the rendition without an overlay: a job makes all its thumbnails or none.
                #expect(job.thumbnails.allSatisfy { $0.blob == nil })
            }
            #expect(try await deployment.status().thumbnails == 1, "of the job without overlay")
        }

        @Test func overlaysTogetherKeepToTheLimitOfOneSource() async throws {
            let sizes = try ["photo.jpg", "mark.png", "other.webp"].map {
                try Data(contentsOf: URL(filePath: "\(deployment.pictures)/\($0)")).count
            }
            let limit = max(sizes[0], sizes[1], sizes[2])
            try #require(sizes[1] + sizes[2] <= limit)
            let padding = Data(repeating: 0, count: limit - sizes[1] - sizes[2] + 1)
            let path = URL(filePath: "\(deployment.pictures)/other.webp")
            let fitting = try await enqueue(uri("mark.png"), uri("other.webp"))
            #expect(try await deployment.drain("--max-source-bytes \(limit)").exitStatus == 0)
            #expect(try await deployment.job(fitting.jobID).state == .completed)
            try (Data(contentsOf: path) + padding).write(to: path)
            let refused = try await enqueue(uri("mark.png"), uri("other.webp"))
            #expect(try await deployment.drain("--max-source-bytes \(limit)").exitStatus == 1)
            let failure = try #require(try await deployment.job(refused.jobID).failure)
            #expect(failure.code == .sourceTooLarge)
            #expect(failure.message.contains("overlays") && failure.message.contains("\(limit + 1) bytes"))
        }
    }
}
