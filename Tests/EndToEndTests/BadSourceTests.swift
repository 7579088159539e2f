import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Invalid, hostile or confusing sources, all inserted by SQL, which does not check them: each fails its own job
    /// with a named code, and the picture beside them completes.
    @Suite(.timeLimit(.minutes(10)))
    struct BadSourceTests {
        private typealias Row = BadSource

        private static let unknownThumbnail = "cameo://thumb/00000000000000000000000000000000"
        private static let unknownBlob = "cameo://blob/sha256-\(String(repeating: "0", count: 64))"

        private static let spellings: [Row] = [
            // Percent-encoding
            Row("file:///srv/a%zz.jpg", .sourceInvalid, "hexadecimal"),
            Row("file:///srv/a%", .sourceInvalid, "hexadecimal"),
            Row("file:///srv/a%00.jpg", .sourceInvalid, "NUL"),
            Row("file:///srv/%ff.jpg", .sourceForbidden, "/srv/\\xFF.jpg"),
            Row("data:,%zz", .requestInvalid, "hexadecimal"),
            Row("data:,100%", .requestInvalid, "hexadecimal"),
            Row("initials:%zz", .requestInvalid, "hexadecimal"),
            Row("initials:%ff", .requestInvalid, "UTF-8"),
            Row("cameo://source/%zz", .requestInvalid, "not a cameo: URI"),
            Row("http://%zz/a.jpg", .sourceUnreachable, "http://%25zz/a.jpg"),
            Row("http://example.com%00.test/a.jpg", .sourceInvalid, "not a valid URL"),
            // Names of the store
            Row(unknownThumbnail, .sourceNotFound, "is not made yet"),
            Row(unknownBlob, .sourceNotFound, "is not in the store"),
            Row("CAMEO://BLOB/sha256-\(String(repeating: "0", count: 64))", .sourceNotFound, "is not in the store"),
            Row("cameo://thumb/0123", .requestInvalid, "not a cameo: URI"),
            Row("cameo://thumb/\(String(repeating: "0", count: 32))/", .requestInvalid, "not a cameo: URI"),
            Row("cameo://blob/\(String(repeating: "0", count: 64))", .requestInvalid, "not a cameo: URI"),
            Row("cameo://blob/sha256-../../cameo.sqlite", .requestInvalid, "not a cameo: URI"),
            Row("cameo://job/1", .requestInvalid, "not a cameo: URI"),
            Row("cameo:", .requestInvalid, "not a cameo: URI"),
            Row("cameo:///thumb/x", .requestInvalid, "not a cameo: URI"),
            // Files
            Row("FILE:///etc/passwd", .sourceForbidden, "--allow-root"),
            Row("file:///etc/../etc/passwd", .sourceForbidden, "--allow-root"),
            Row("file://localhost/etc/passwd", .sourceForbidden, "--allow-root"),
            Row("file://host/etc/passwd", .sourceInvalid, "names a host"),
            Row("file://../etc/passwd", .sourceInvalid, "names a host"),
            Row("file:relative.jpg", .sourceInvalid, "file:///"), Row("file:/etc/passwd", .sourceInvalid, "file:///"),
            Row("file:", .sourceInvalid, "file:///"), Row("file:\\\\\\etc\\passwd", .sourceInvalid, "file:///"),
            Row("file:////etc/passwd", .sourceForbidden, "--allow-root"),
            Row("/etc/passwd", .sourceInvalid, "has no scheme"), Row("../a.jpg", .sourceInvalid, "has no scheme"),
            Row("C:\\a.jpg", .sourceUnsupportedScheme, "c:"),
            // Schemes
            Row("//127.0.0.1/a.jpg", .sourceInvalid, "has no scheme"),
            Row(" http://127.0.0.1/a.jpg", .sourceInvalid, "has no scheme"),
            Row("\u{200B}http://127.0.0.1/a.jpg", .sourceInvalid, "has no scheme"),
            Row("ｈttp://127.0.0.1/a.jpg", .sourceInvalid, "has no scheme"),
            Row("http\u{37E}//127.0.0.1/a.jpg", .sourceInvalid, "has no scheme"),
            Row("http:", .sourceInvalid, "not a valid URL"), Row("http://", .sourceInvalid, "not a valid URL"),
            // Browsers accept any number of slashes, and backslashes; the guard copes with that.
            Row("http:/10.0.0.1/a.jpg", .sourceForbidden, "--allow-network"),
            Row("http:///10.0.0.1/a.jpg", .sourceForbidden, "--allow-network"),
            Row("http:////10.0.0.1/a.jpg", .sourceForbidden, "--allow-network"),
            Row("http:\\\\10.0.0.1\\a.jpg", .sourceForbidden, "--allow-network"),
            Row("http:10.0.0.1/a.jpg", .sourceForbidden, "--allow-network"),
            Row("https://:443/a.jpg", .sourceInvalid, "not a valid URL"),
            Row("http://127.0.0.1:65536/a.jpg", .sourceInvalid, "not a valid URL"),
            Row("http://127.0.0.1:-1/a.jpg", .sourceInvalid, "not a valid URL"),
            Row("http://[::1/a.jpg", .sourceInvalid, "not a valid URL"),
            Row("http://a b/a.jpg", .sourceInvalid, "not a valid URL"),
            Row("ftp://127.0.0.1/a.jpg", .sourceUnsupportedScheme, "ftp:"),
            Row("gopher://127.0.0.1/_GET", .sourceUnsupportedScheme, "gopher:"),
            Row("dict://127.0.0.1/x", .sourceUnsupportedScheme, "dict:"),
            Row("smb://127.0.0.1/x", .sourceUnsupportedScheme, "smb:"),
            Row("jar:http://127.0.0.1/a!/b", .sourceUnsupportedScheme, "jar:"),
            Row("javascript:alert(1)", .sourceUnsupportedScheme, "javascript:"),
            Row("about:blank", .sourceUnsupportedScheme, "about:"),
            Row("http+unix:///run/x", .sourceUnsupportedScheme, "http+unix:"),
            // Lines that would be headers
            Row("http://127.0.0.1/a\r\nX-Injected: 1", .requestInvalid, "control character"),
            Row("http://127.0.0.1/a\u{0}b", .requestInvalid, "control character"),
            Row("http://127.0.0.1%0d%0aX-Injected:1/a", .sourceInvalid, "not a valid URL"),
            Row("http://a%0d%0ab:c@127.0.0.1/a", .sourceInvalid, "not a valid URL"),
            // Inline pictures that are none
            Row("data:", .requestInvalid, "comma"), Row("data:image/png;base64,*", .requestInvalid, "base64"),
            Row("data:,", .sourceInvalid, "is empty"),
            Row("data:image/png;base64,R0lGODlh", .sourceInvalid, "image/png"),
            Row("data:,\(String(repeating: "x", count: 1_000_000))", .imageUnsupportedFormat, "data:,x"),
            Row("data:image/png;base64,\(String(repeating: "A", count: 1_000_000))", .sourceInvalid, "image/png"),
            Row(
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
                .imageCorrupt,
                "iVBOR"
            ),
            Row("R0lGODlhAQABAAAAACwAAAAAAQABAAACA", .requestInvalid, "base64"),
        ]

        /// Misbehaving servers are tested with the fetcher; these are cases where a worker might take another path.
        private static func answers(_ origin: Origin, _ secure: Origin) -> [Row] {
            func redirect(_ target: String) -> String {
                origin.url("/redirect?to=\(target.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")")
            }
            let shouted = origin.url("/status/404").replacing("http://", with: "HTTP://")
            return [
                Row(shouted, .sourceNotFound, "404"), Row(origin.url("/%zz"), .sourceNotFound, "404"),
                Row(origin.url("/a%0d%0aX-Injected:1"), .sourceNotFound, "404"),
                Row(redirect("file:///etc/passwd"), .sourceForbidden, "to http and https only"),
                Row(redirect("FILE:/etc/passwd"), .sourceForbidden, "to http and https only"),
                Row(redirect(Self.unknownBlob), .sourceForbidden, "to http and https only"),
                Row(redirect("data:image/gif;base64,R0lGODlh"), .sourceForbidden, "to http and https only"),
                Row(redirect("initials:JD"), .sourceForbidden, "to http and https only"),
                Row(redirect("http://10.0.0.1/"), .sourceForbidden, "--allow-network"),
                Row(redirect("http://["), .sourceInvalid, "not a valid URL"),
                Row(origin.url("/loop"), .sourceForbidden, "5 times"),
                Row(origin.url("/gzip-bomb?mib=64"), .sourceTooLarge, "2000000"),
                Row(origin.url("/endless"), .sourceTooLarge, "2000000"),
                Row(origin.url("/announced?bytes=1000000000000"), .sourceTooLarge, "1000000000000"),
                Row(origin.url("/header-flood"), .sourceUnreachable, "/header-flood"),
                Row(origin.url("/bytes?count=1000"), .imageUnsupportedFormat, "/bytes"),
                Row(secure.url("/bytes"), .sourceUnreachable, "cannot be trusted"),
                Row(secure.url("/bytes", host: "localhost"), .sourceUnreachable, "cannot be trusted"),
                Row(origin.url("/bytes").replacing("http:", with: "https:"), .sourceUnreachable, "https:"),
            ]
        }

        @Test func everyBadSourceIsTheNamedFailureOfItsOwnJob() async throws {
            let deployment = try Deployment()
            let origin = try await Origin.start()
            let secure = try await Origin.start(tls: deployment.folder.path, isExpired: true)
            try await deployment.expectFailures(
                of: Self.spellings + Self.answers(origin, secure),
                "--allow-network 127.0.0.0/8 --max-source-bytes 2000000 --fetch-timeout 100"
            )
        }
    }
}

/// A source, the code of its failure, and a part of its message.
struct BadSource {
    let source: String
    let code: JobFailure.Code
    let text: String

    init(_ source: String, _ code: JobFailure.Code, _ text: String) {
        (self.source, self.code, self.text) = (source, code, text)
    }
}

extension Deployment {
    /// Expects that each fails its own job by a named code, and that a picture beside them is made. They are inserted by SQL,
    /// because cameo-enqueue refuses mistakes that it can see.
    func expectFailures(of all: [BadSource], _ options: String = "") async throws {
        try add(try await Pictures.photo("jpg"), as: "good.jpg")
        let good = try #require(try await enqueue("pictures/good.jpg --size 64x64").first).jobID
        let statements = all.map { bad in
            let request: JSONValue = .object([
                "source": .string(bad.source), "maxAttempts": .integer(1),
                "renditions": .array([.object(["width": .integer(16)])]),
            ])
            return "INSERT INTO job(request) VALUES ('\(request.canonicalText.replacing("'", with: "''"))');"
        }
        _ = try await sql(statements.joined(separator: "\n"))
        let drained = try await drain(options)
        #expect(drained.exitStatus == 1, "\(drained.errorText)")
        #expect(
            drained.outputText.contains("1 completed (1 thumbnail), \(all.count) discarded"),
            "\(drained.outputText)"
        )
        #expect(try await job(good).state == .completed)
        #expect(try await status().thumbnails == 1)
        for (index, bad) in all.enumerated() {
            let failed = try await job(good + 1 + Int64(index))
            let failure = try #require(failed.failure, "\(bad.source.prefix(200))")
            #expect(failed.state == .discarded)
            // Newer versions of libcurl refuse such a host, and older ones look for it.
            if bad.source != "http://%zz/a.jpg" || failure.code != .sourceInvalid {
                #expect(failure.code == bad.code, "\(bad.source.prefix(200)): \(failure.message)")
                #expect(failure.message.contains(bad.text), "\(bad.source.prefix(200)): \(failure.message)")
            }
            #expect(failure.message.utf8.count < 1_000)
            #expect(!failure.message.contains { $0.isNewline })
        }
    }
}
