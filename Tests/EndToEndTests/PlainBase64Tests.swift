import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Bare base64 is a picture wherever a source is expected.
    @Suite(.timeLimit(.minutes(10)))
    struct PlainBase64Tests {
        private let deployment: Deployment
        private let text: String

        init() async throws {
            deployment = try Deployment()
            let photo = try await Pictures.photo("png")
            let small = deployment.folder.path("small.jpg")
            let made = try await run("vipsthumbnail", [photo, "--size", "64x", "-o", small])
            try #require(made.exitStatus == 0, "\(made.errorText)")
            text = try Data(contentsOf: URL(filePath: small)).base64EncodedString()
        }

        @Test func everyWayInNamesTheSameThumbnail() async throws {
            let size = ["--size", "32x32"]
            let urlSafe = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            let request = #"{"source":"\#(text)","renditions":[{"width":32,"height":32}]}"#
            let path = try deployment.folder.write(Data(request.utf8), to: "request.json")
            let bytes = try #require(Data(base64Encoded: text))
            let blob = CameoURI.blob(BlobDigest(of: bytes)).text

            var uris: [CameoURI] = []
            for arguments in [
                size + [text, urlSafe, "data:image/jpeg;base64,\(text)", blob], ["--request", path],
            ] {
                let result = try await deployment.command("cameo-enqueue", arguments + ["--json"]).succeeded()
                uris += try result.outputText.split(separator: "\n").map {
                    try #require(try WireFormat.decode(EnqueueReceipt.self, from: Data($0.utf8)).thumbnails.first).uri
                }
            }
            uris += try await deployment.enqueue("- --size 32x32", input: Data("\(text)\n\(urlSafe)\n".utf8))
                .flatMap(\.thumbnails).map(\.uri)
            uris += try await deployment.enqueue("--data --size 32x32", input: bytes).flatMap(\.thumbnails)
                .map(\.uri)
            _ = try await deployment.sql("INSERT INTO job(request) VALUES (json('\(request)'));")
            #expect(Set(uris).count == 1)
            try #require(uris.count == 8)

            try await deployment.drain().succeeded()
            // All forms joined the waiting job.
            let job = try await deployment.job(1)
            #expect(job.state == .completed)
            #expect(job.thumbnails.map(\.uri) == [uris[0]])
            #expect(try await deployment.job(2).failure?.code == .jobSuperseded)
            #expect(try await deployment.status().thumbnails == 1)
        }

        @Test func aPathThatIsThereWins() async throws {
            let name = Data(Array("GIF89a".utf8) + [UInt8](repeating: 7, count: 30)).base64EncodedString()
            let photo = try await Pictures.photo("jpg")
            try FileManager.default.copyItem(atPath: photo, toPath: deployment.folder.path(name))
            for input in [nil, Data("\(name)\n".utf8)] {
                let receipts = try await deployment.enqueue(input == nil ? name : "-", input: input)
                #expect(receipts.map(\.source) == ["file://\(deployment.folder.path)/\(name)"])
            }
            try FileManager.default.removeItem(atPath: deployment.folder.path(name))
            #expect(try await deployment.enqueue(name).map(\.source) == [name])
        }

        @Test func anOverlayMayBeOne() async throws {
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            _ = try await deployment.enqueue("pictures/photo.jpg --overlay", text, "--size", "64x64:png")
            try await deployment.drain().succeeded()
        }

        @Test func noMessageShowsThePayload() async throws {
            // A valid beginning, followed by invalid pixels.
            let head = try #require(Data(base64Encoded: text)).prefix(200)
            let broken = (head + Data(repeating: 0x55, count: 3_000)).base64EncodedString()
            _ = try await deployment.enqueue(broken, "--size", "32x32", "--batch", "b")
            let drained = try await deployment.drain("--log-level info")
            #expect(drained.exitStatus == 1)
            let failure = try #require(try await deployment.job(1).failure)
            #expect(failure.code == .imageCorrupt, "\(failure.message)")
            let shown =
                try await deployment.command("cameo-status job 1").outputText
                + deployment.command("cameo-status jobs").outputText
                + deployment.command("cameo-status sheet - 1").outputText
            for text in [drained.errorText, drained.outputText, failure.message, shown] {
                #expect(!text.contains(broken.prefix(40)))
            }
            #expect(shown.contains("\(broken.prefix(24))…"))

            let refused = try await deployment.command("cameo-enqueue", [broken + "*"])
            #expect(refused.exitStatus == 2)
            #expect(refused.errorText.contains("base64 is malformed"))
            #expect(refused.errorText.utf8.count < 300, "\(refused.errorText)")
        }
    }
}
