import CameoModel
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Uploads that are larger than what is held in memory.
@Suite(.timeLimit(.minutes(10)))
struct UploadTests {
    private let bench: WebBench
    /// Four and a half mebibytes in which no two mebibytes are alike.
    private let picture = Data((0..<1_179_648).flatMap { number in withUnsafeBytes(of: UInt32(number)) { Array($0) } })

    init() async throws {
        bench = try await WebBench(tokens: ["producer": "read,enqueue"])
    }

    private func upload(_ body: Data, as type: String, to target: String = "/jobs") async throws -> RawAnswer {
        let headers = WebBench.bearer("producer").merging(["Content-Type": type]) { $1 }
        return try await bench.send("POST", target, headers, body: body)
    }

    @Test func aLargePictureArrivesWhole() async throws {
        let answer = try await upload(picture, as: "image/png", to: "/jobs?hook=done&name=a%20b.png")
        #expect(answer.status == 201, "\(answer.text)")
        #expect(try await bench.store.data(of: .blob(BlobDigest(of: picture))) == picture)
        #expect(try await bench.store.job(1).request["hook"] == "done")
        #expect(try await bench.store.job(1).request["metadata"] == ["name": "a b.png"])
    }

    /// As browsers write them (https://html.spec.whatwg.org/#multipart-form-data), and `curl --form-escape`.
    @Test(arguments: [
        (#"a\b.png"#, #"a\b.png"#), ("13%22 x.png", "13\" x.png"), (#"C:\"#, #"C:\"#), ("50%25.png", "50%25.png"),
        ("a%0D%0Ab.png", "a\r\nb.png"), ("a; name=b.png", "a; name=b.png"), (#"Käse \"1\".png"#, "Käse \"1\".png"),
    ])
    func aFilesNameIsThatOfTheDisk(field: String, name: String) async throws {
        let head = "--xYz\r\nContent-Disposition: form-data; filename=\"\(field)\"; name=\"picture\"\r\n\r\n"
        let body = Data(head.utf8) + WebBench.picture() + Data("\r\n--xYz--\r\n".utf8)
        let answer = try await upload(body, as: "multipart/form-data; boundary=xYz")
        #expect(answer.status == 201, "\(answer.text)")
        #expect(try await bench.store.job(1).request["metadata"] == ["name": .string(name)])
    }

    @Test(arguments: ["13\" x.png", #"a\b.png"#, "a; b=c.png", "ä%20.png"])
    func curlsNamesArrive(name: String) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(WebBench.picture(), to: name)
        // Its own option has quotation marks and backslashes.
        let quoted = path.replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#)
        let sent = try await run(
            "curl",
            [
                "-sS", "-H", "Authorization: Bearer producer-0123456789abcdef", "-F", "picture=@\"\(quoted)\"",
                "http://127.0.0.1:\(bench.port)/jobs",
            ]
        )
        #expect(sent.outputText.contains("\"outcome\""), "\(sent.outputText) \(sent.errorText)")
        #expect(try await bench.store.job(1).request["metadata"] == ["name": .string(name)])
    }

    @Test func aLargePictureInAFormArrivesWhole() async throws {
        let head = "--xYz\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"Käse \\\"1\\\".png\"\r\n\r\n"
        let tail = "\r\n--xYz\r\nContent-Disposition: form-data; name=\"batch\"\r\n\r\nb\r\n--xYz--\r\n"
        let body = Data(head.utf8) + picture + Data(tail.utf8)
        let answer = try await upload(body, as: "multipart/form-data; boundary=xYz")
        #expect(answer.status == 201, "\(answer.text)")
        #expect(try answer.json["batch"] == "b")
        #expect(try await bench.store.job(1).request["metadata"] == ["name": "Käse \"1\".png"])
        #expect(try await bench.store.data(of: .blob(BlobDigest(of: picture))) == picture)
    }
}
