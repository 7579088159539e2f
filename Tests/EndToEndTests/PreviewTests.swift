import CameoModel
import CameoReport
import CameoSQLite
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Thumbnails in a terminal, and a sheet of them as a PNG.
    @Suite(.timeLimit(.minutes(10)))
    struct PreviewTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
        }

        private func preview(_ arguments: String..., environment: [String: String?] = [:]) async throws -> ProcessResult
        {
            let plain = ["NO_COLOR": nil, "COLORTERM": "truecolor"] as [String: String?]
            return try await deployment.command(
                "cameo-status",
                ["preview"] + arguments,
                environment: plain.merging(environment) { $1 }
            )
        }

        /// Whatever format the thumbnail has, it is drawn in half blocks, or sent as a PNG.
        @Test(arguments: ["webp", "jpeg", "png", "avif", "gif"])
        func aThumbnailIsShown(format: String) async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg", "--size", "64x48:\(format):cover")
            #expect(try await deployment.drain().exitStatus == 0)
            let blocks = try await preview("1")
            #expect(blocks.exitStatus == 0, "\(blocks.errorText)")
            let lines = blocks.outputText.split(separator: "\n")
            // At most 22 lines of two pixels: 80 × 24 without a terminal.
            #expect(lines.count == 22)
            for line in lines {
                #expect(line.contains("▀") && line.hasSuffix("\u{1B}[0m"))
                #expect(line.replacing(#/\u{1B}\[[0-9;]*m/#, with: "").count == 59)
            }
            let kitty = try await preview("1", "--as", "kitty")
            let parts = kitty.outputText.matches(of: #/\u{1B}_G[^;]*;([^\u{1B}]*)\u{1B}\\/#).map { $0.output.1 }
            let png = try #require(Data(base64Encoded: parts.joined()))
            let pixels = try #require(Pixels(png: png))
            #expect(pixels.width == 64 && pixels.height == 48)
            let sixel = try await preview("1", "--as", "sixel")
            #expect(
                sixel.outputText.hasPrefix("\u{1B}P0;1q\"1;1;64;48#0;2;") && sixel.outputText.hasSuffix("\u{1B}\\\n")
            )
        }

        @Test func coloursAreThoseThatAreThere() async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg", "--size", "16x")
            _ = try await deployment.drain()
            let palette = try await preview("1", environment: ["COLORTERM": nil])
            #expect(palette.outputText.contains("\u{1B}[38;5;") && !palette.outputText.contains(";2;"))
            let none = try await preview("1", environment: ["NO_COLOR": "1"])
            #expect(!none.outputText.isEmpty && !none.outputText.contains("\u{1B}"))
        }

        @Test func aURIIsShownAndAJobWithAllItsThumbnails() async throws {
            let receipt = try #require(
                try await deployment.enqueue("pictures/photo.jpg", "--size", "16x", "--size", "24x").first
            )
            let early = try await preview("1")
            #expect(early.exitStatus == 1)
            #expect(early.errorText == "cameo-status: job 1 has no thumbnails: it is available\n")
            _ = try await deployment.drain()
            let both = try await preview("\(receipt.jobID)")
            #expect(both.outputText.hasPrefix("16x\n") && both.outputText.contains("\n24x\n"))
            let one = try await preview(receipt.thumbnails[0].uri.text)
            #expect(one.exitStatus == 0 && both.outputText.contains(one.outputText))
        }

        @Test func whatCannotBeShownSaysWhy() async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg", "--size", "16x")
            _ = try await deployment.drain()
            #expect(try await preview("99").exitStatus == 1)
            #expect(try await preview("cameo://thumb/00000000000000000000000000000000").exitStatus == 1)
            #expect(try await preview("photo.jpg").exitStatus == 2)
            #expect(try await preview("1", "--as", "oil").exitStatus == 2)
            let digest = try await SQLiteStore(at: deployment.store).store(
                Data("no picture".utf8),
                mediaType: "image/png"
            )
            let text = try await preview("cameo://blob/\(digest)")
            #expect(text.exitStatus == 1 && text.outputText.isEmpty)
            #expect(
                text.errorText.hasPrefix("cameo-status: cameo://blob/\(digest) is plain text, not "),
                "\(text.errorText)"
            )
        }

        @Test func aSheetMayBeOnePicture() async throws {
            for width in 11...15 { _ = try await deployment.enqueue("pictures/photo.jpg", "--size", "\(width)x") }
            _ = try await deployment.enqueue("missing.jpg", "--max-attempts", "1")
            _ = try await deployment.drain()
            let made = try await deployment.command("cameo-status", ["sheet", "sheet.png", "--png"])
            #expect(made.exitStatus == 0, "\(made.errorText)")
            let data = try Data(contentsOf: URL(filePath: deployment.folder.path("sheet.png")))
            let pixels = try #require(Pixels(png: data))
            // Three and two pictures.
            let empty = PictureSheet(count: 5).pixels
            #expect(pixels.width == empty.width && pixels.height == empty.height && empty.width == 3 * 188 + 12)
            // The newest job is the first.
            let name = BitmapFont.picture("photo.jpg", ink: [0x22, 0x22, 0x22, 0xFF], paper: [255, 255, 255, 255])
            let left = 12 + 88 - name.width / 2
            for row in 0..<name.height {
                let start = ((188 + row) * pixels.width + left) * 4
                let line = name.bytes[row * name.width * 4..<(row + 1) * name.width * 4]
                #expect(pixels.bytes[start..<start + line.count] == line)
            }
            let piped = try await deployment.command("cameo-status", ["sheet", "-", "--png"])
            #expect(piped.standardOutput == data)
        }

        @Test func aMissingRendererIsNamed() async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg", "--size", "16x")
            _ = try await deployment.drain()
            let alone = deployment.folder.path("cameo-status")
            try FileManager.default.copyItem(atPath: try Deployment.executable("cameo-status"), toPath: alone)
            let result = try await run(alone, ["preview", "1"], environment: ["CAMEO_STORE": deployment.store])
            #expect(
                result.exitStatus == 1 && result.errorText.contains("cameo-renderer cannot be run"),
                "\(result.errorText)"
            )
        }
    }
}
