import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

/// The web application of the documentation, with a real server.
@Suite(.timeLimit(.minutes(10)))
struct FlaskTests {
    /// Uploads a photo through the application and prints the two URLs of its answer.
    private static let browser = #"""
        import io, re, sys
        sys.path.insert(0, sys.argv[1])
        from app import app
        client = app.test_client()
        assert b"<form" in client.get("/").data
        photo = open(sys.argv[2], "rb").read()
        answer = client.post("/", data={"picture": (io.BytesIO(photo), "photo.jpg", "image/jpeg")})
        assert answer.status_code == 200, answer.data
        urls = re.search("src=\"([^\"]*)\".*this.src = '([^']*)'", answer.text).groups()
        print(*urls, sep="\n")
        """#

    @Test func theDocumentedApplicationShowsThePlaceholderAndThenThePicture() async throws {
        let folder = try TemporaryFolder()
        let blocks = try Page.article("Web").blocks
        let application = try #require(blocks.first { $0.text.contains("from flask") }?.text)
        #expect(application.split(separator: "\n").count <= 25)
        try folder.write(Data(application.utf8), to: "app.py")
        let tokens = try folder.write(Data("app enqueue 0123456789abcdef\n".utf8), to: "tokens")
        let store = folder.path("store")
        let server = try await WebProcess.start("--store", store, "--listen", "127.0.0.1:0", "--tokens", tokens)
        defer { server.process.killGroup() }

        let browser = try await run(
            "/usr/bin/python3",
            ["-c", Self.browser, folder.url.path, try await Pictures.photo("jpg")],
            environment: ["THUMBNAILS_URL": String(server.url.dropLast()), "THUMBNAILS_TOKEN": "0123456789abcdef"]
        )
        let urls = browser.outputText.split(separator: "\n").map(String.init)
        try #require(urls.count == 2, "\(browser.errorText)")
        #expect(try await load(urls[0]) == "202 image/svg+xml")
        async let picture = load(urls[1])
        let worker = try ChildProcess(try WebProcess.executable("cameo-worker"), ["--store", store, "--drain"])
        defer { worker.killGroup() }
        #expect(try await picture == "200 image/webp")
        #expect(await worker.ending == .exited(0))
        #expect(try await load(urls[0]) == "200 image/webp")
    }

    /// Loads a URL as an `img` does; returns the status and the media type.
    private func load(_ url: String) async throws -> String {
        let format = "%{http_code} %{content_type}"
        let arguments = ["-sS", "-o", "/dev/null", "-w", format, "-H", "Accept: image/avif,image/webp,*/*", url]
        return try await run("curl", arguments).outputText
    }
}
