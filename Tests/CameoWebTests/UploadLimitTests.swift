import CameoModel
import CameoWeb
import Foundation
import Logging
import StoreConformance
import TestSupport
import Testing

/// What a body may be, and how many at once.
@Suite(.timeLimit(.minutes(10)))
struct UploadLimitTests {
    private static let tokens: KeyValuePairs = ["producer": "enqueue"]
    private static let authorization = WebBench.bearer("producer")["Authorization"] ?? ""

    /// Uploads wait on the disk, so only so many bytes at once.
    @Test func uploadsInProgressAreBounded() async throws {
        let budget = UploadBudget(limit: 100)
        let first = budget.share()
        try first.grow(by: 60)
        do {
            let second = budget.share()
            try second.grow(by: 40)
            #expect(throws: (any Error).self) { try second.grow(by: 1) }
            #expect(throws: (any Error).self) { try first.grow(by: 1) }
            #expect(second.count == 40)
        }
        // What ends gives its place back; one alone is admitted, however large.
        try first.grow(by: 1_000)
        #expect(throws: (any Error).self) { try budget.share().grow(by: 1) }
    }

    private func head(_ fields: String) -> Data {
        let lines = "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nConnection: close\r\n"
        return Data("\(lines)Authorization: \(Self.authorization)\r\n\(fields)\r\n\r\n".utf8)
    }

    /// Room is taken by what has arrived, not by what is announced or possible.
    @Test func whatHasNotArrivedTakesNoRoom() async throws {
        let bench = try await WebBench(tokens: Self.tokens) { configuration in
            (configuration.maximumUploadsInFlight, configuration.bodyPace) = (1_000_000, .seconds(300))
        }
        let port = bench.port
        let silent = try await WebBench.blocking { try (0..<11).map { _ in try RawConnection(port: port) } }
        for connection in silent { connection.send(head("Content-Length: 100000000")) }
        let picture = WebBench.picture(bytes: 5_000)
        let chunk = Data("1388\r\n".utf8) + picture + Data("\r\n".utf8)
        let chunked = try await WebBench.blocking { try (0..<30).map { _ in try RawConnection(port: port) } }
        for connection in chunked { connection.send(head("Transfer-Encoding: chunked") + chunk) }
        for connection in chunked {
            let answer = try await WebBench.blocking { try connection.exchange(Data("0\r\n\r\n".utf8)) }
            #expect(try RawAnswer(answer).status == 201)
        }
        withExtendedLifetime(silent) {}
    }

    /// A client holds a body back until it is asked for it, and sends none that is refused.
    @Test func aBodyThatIsHeldBackIsAskedFor() async throws {
        let bench = try await WebBench(tokens: Self.tokens)
        let (port, picture) = (bench.port, WebBench.picture())
        let fields = "Content-Length: \(picture.count)\r\nExpect: 100-continue"
        let connection = try await WebBench.blocking { try RawConnection(port: port) }
        connection.send(head(fields))
        let interim = try await WebBench.blocking { try connection.receive() }
        #expect(interim == Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        let answer = try await WebBench.blocking { try connection.exchange(picture) }
        #expect(try RawAnswer(answer).status == 201)
        for (refused, status) in [
            (fields + "\r\nContent-Encoding: gzip", 415), ("Content-Length: 999999999\r\nExpect: 100-continue", 413),
        ] {
            let answer = try await bench.exchange(head(refused))
            #expect(answer.status == status && answer["Connection"] == "close")
        }
        // A client of HTTP/1.0 knows no interim answers.
        let old = String(decoding: head(fields), as: UTF8.self).replacing("HTTP/1.1", with: "HTTP/1.0")
        #expect(try await bench.exchange(Data(old.utf8) + picture).status == 201)
    }

    /// Whoever has no token does not go on sending after the answer.
    @Test func aStrangersBodyIsNotReadOn() async throws {
        let bench = try await WebBench(tokens: Self.tokens)
        let answer = try await bench.exchange(
            Data("POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 1000\r\n\r\nx".utf8)
        )
        #expect(answer.status == 401 && answer["Connection"] == "close")
    }

    /// What clients and sources do wrong is no error of this server.
    @Test func othersMistakesAreNoErrors() async throws {
        let log = RecordedLog()
        let bench = try await WebBench(logger: log.logger(from: .info), tokens: Self.tokens)
        let port = bench.port
        let upload = try await WebBench.blocking { try RawConnection(port: port) }
        upload.send(head("Content-Length: 1000") + Data("the beginning".utf8))
        upload.end()
        try await eventually("it is noticed") { log.lines.contains { $0.contains("broke off") } }
        let receipt = try await bench.enqueue(Rendition(width: 64))
        try await bench.discard(try await bench.register(), .sourceUnreachable)
        #expect(try await bench.get("\(receipt.path)?job=1").status == 502)
        #expect(log.levels.allSatisfy { $0 <= .info }, "\(log.lines)")
    }

    @Test(arguments: ["FFFFFFFFFFFFFFFFF\r\nx", "zz\r\nx"])
    func aMalformedBodyIsTheClientsFault(chunk: String) async throws {
        let bench = try await WebBench(tokens: Self.tokens)
        let answer = try await bench.exchange(head("Transfer-Encoding: chunked") + Data(chunk.utf8))
        #expect(answer.status == 400)
        #expect(answer["Content-Type"] == "application/problem+json")
    }

    @Test func aTooLongBodyIsRefusedByName() async throws {
        let bench = try await WebBench(tokens: Self.tokens) { $0.maximumUpload = 1_000_000 }
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
        #expect(try await post(WebBench.picture(), as: "text/plain").status == 415)
        for type in ["video/mp4", "audio/flac", "application/octet-stream"] {
            #expect(try await post(WebBench.picture(), as: type).status != 415, "\(type)")
        }
    }

    @Test func aSlowBodyIsGivenUp() async throws {
        let bench = try await WebBench(tokens: Self.tokens) { $0.bodyPatience = .milliseconds(200) }
        #expect(try await bench.exchange(head("Content-Length: 1000") + Data("the beginning".utf8)).status == 408)
        #expect(try await bench.get("/health/live").status == 200)
    }

    /// One of which little arrives is given up long before it has had its time.
    @Test func aBodyThatTricklesIsGivenUp() async throws {
        let bench = try await WebBench(tokens: Self.tokens) { $0.bodyPace = .milliseconds(100) }
        for fields in ["Content-Length: 1000", "Transfer-Encoding: chunked"] {
            #expect(try await bench.exchange(head(fields) + Data("5\r\n".utf8)).status == 408, "\(fields)")
        }
    }
}
