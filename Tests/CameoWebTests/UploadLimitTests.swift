import CameoModel
import CameoWeb
import Foundation
import Testing

/// What a body may be, and how many at once.
@Suite(.timeLimit(.minutes(10)))
struct UploadLimitTests {
    private static let token = "producer enqueue producer-0123456789abcdef"
    private static let authorization = "Bearer producer-0123456789abcdef"

    /// Uploads wait on the disk, so only so many at once.
    @Test func uploadsInProgressAreBounded() async throws {
        let budget = UploadBudget(limit: 100)
        func isAdmitted(_ bytes: Int) async -> Bool { (try? await budget.hold(bytes) { true }) ?? false }
        try await budget.hold(60) {
            #expect(await isAdmitted(40))
            #expect(await !isAdmitted(41))
            // One that fails gives its place back.
            await #expect(throws: CancellationError.self) { try await budget.hold(40) { throw CancellationError() } }
            #expect(await isAdmitted(40))
        }
        // One alone is admitted, however large.
        try await budget.hold(1_000) { #expect(await !isAdmitted(1)) }
        #expect(await isAdmitted(100))
    }

    @Test func aTooLongBodyIsRefusedByName() async throws {
        let bench = try await WebBench { configuration in
            configuration.maximumUpload = 1_000_000
            configuration.tokens = try AccessTokens(parsing: Self.token)
        }
        func post(_ body: Data, as type: String?) async throws -> RawAnswer {
            let headers = ["Authorization": Self.authorization, "Content-Type": type].compactMapValues { $0 }
            return try await bench.send("POST", "/jobs", headers, body: body)
        }
        let announced = try await post(Data(count: 1_000_001), as: "image/png")
        #expect(announced.status == 413)
        #expect(announced.text.contains("1000000 bytes"))
        #expect(try announced.json["code"] == "source.tooLarge")
        // One that says nothing of its length, and never ends.
        var chunked = Data(
            "POST /jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: image/png\r\n".utf8
        )
        chunked += Data("Authorization: \(Self.authorization)\r\n\r\n".utf8)
        for _ in 0..<40 { chunked += Data("10000\r\n".utf8) + Data(count: 0x10000) + Data("\r\n".utf8) }
        #expect(try await bench.exchange(chunked).status == 413)
        let text = Data(count: ThumbnailRequest.maximumBytes + 1)
        #expect(try await post(text, as: "application/json").status == 413)
        #expect(try await post(WebBench.picture(), as: nil).status == 415)
    }

    @Test func aSlowBodyIsGivenUp() async throws {
        let bench = try await WebBench { configuration in
            configuration.bodyPatience = .milliseconds(200)
            configuration.tokens = try AccessTokens(parsing: Self.token)
        }
        let head = """
            POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 1000\r\n\
            Authorization: \(Self.authorization)\r\n\r\n
            """
        #expect(try await bench.exchange(Data((head + "the beginning").utf8)).status == 408)
        #expect(try await bench.get("/health/live").status == 200)
    }
}
