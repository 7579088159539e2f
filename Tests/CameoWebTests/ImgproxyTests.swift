import CameoModel
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import StoreConformance
import TestSupport
import Testing

/// URLs as imgproxy's documentation forms them (https://docs.imgproxy.net).
@Suite(.timeLimit(.minutes(10)))
struct ImgproxyTests {
    private static let keys = """
        # the example of the documentation: secret, hello
        736563726574 68656C6C6F
        # its successor
        943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881 \
        520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5
        """
    private static let plain = "https://example.com/a.jpg"
    private let bench: WebBench

    init() async throws {
        bench = try await WebBench { configuration in
            configuration.imgproxyKeys = try ImgproxyKey.all(parsing: Self.keys)
        }
    }

    private func signed(_ path: String) throws -> String {
        "/\(try ImgproxyKey.all(parsing: Self.keys)[0].signature(of: path))\(path)"
    }

    @Test func signaturesAreThoseOfTheDocumentation() async throws {
        let path = "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
        let signature = "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8"
        let keys = try ImgproxyKey.all(parsing: Self.keys)
        // The second one is Python's hmac's.
        #expect(
            keys.map { $0.signature(of: path) } == [signature, "90UxdwGRAI2bpLSHKkZculJau5ahfxfS0h3fMuQAf40"]
        )
        #expect(try await bench.get("/\(signature)\(path)?wait=0").status == 202)
        for wrong in [
            "/\(signature)x\(path)", "/\(signature.dropLast())\(path)", "/unsafe\(path)", "/\(signature)\(path)g",
            "/\(signature)/rs:fill:301:400:0/plain/\(Self.plain)",
        ] {
            #expect(try await bench.get("\(wrong)?wait=0").status == 403, "\(wrong)")
        }
        let request = try #require(try await bench.store.jobs(JobFilter()).first).request
        #expect(request["source"] == "http://example.com/images/curiosity.jpg")
        #expect(request["queue"] == "web")
    }

    @Test func aCacheMayMergeSlashesOrAppendOne() async throws {
        let url = try signed("/w:300/plain/\(Self.plain)")
        for other in [url, url.replacing("://", with: ":/"), url + "/"] {
            #expect(try await bench.get("\(other)?wait=0").status == 202, "\(other)")
        }
        #expect(try await bench.store.jobs(JobFilter()).map(\.source) == [Self.plain])
    }

    @Test(arguments: [
        ("rs:fill:300:400", Rendition(width: 300, height: 400, fit: .cover, format: .source)),
        (
            "resize:fill:300:400:1",
            Rendition(width: 300, height: 400, fit: .cover, withoutEnlargement: false, format: .source)
        ),
        ("rs:fill:300:400/g:sm", Rendition(width: 300, height: 400, fit: .cover, gravity: .attention, format: .source)),
        (
            "rs:fill:300:400/gravity:nowe",
            Rendition(width: 300, height: 400, fit: .cover, gravity: .northwest, format: .source)
        ),
        (
            "rs:fill:300:400/g:fp:0.25:1",
            Rendition(width: 300, height: 400, fit: .cover, gravity: .focus(.init(x: 0.25, y: 1)), format: .source)
        ),
        ("rs::300", Rendition(width: 300, format: .source)), ("rs:fit:0:400", Rendition(height: 400, format: .source)),
        ("s:300:400:t", Rendition(width: 300, height: 400, withoutEnlargement: false, format: .source)),
        ("w:300/h:400/rt:force", Rendition(width: 300, height: 400, fit: .fill, format: .source)),
        ("width:300/g:so", Rendition(width: 300, format: .source)),
        ("rs:fit:300:400:0:1", Rendition(width: 300, height: 400, fit: .contain, format: .source)),
        ("rs:fit:300:400/ex:1:no", Rendition(width: 300, height: 400, fit: .contain, gravity: .north, format: .source)),
        ("w:300/f:webp/q:70", Rendition(width: 300, format: .webp, quality: 70)),
        ("w:300/q:0", Rendition(width: 300, format: .source)), ("w:300/ext:jpg", Rendition(width: 300, format: .jpeg)),
        ("w:300/bg:255:0:10", Rendition(width: 300, format: .source, background: Color("#ff000a"))),
        ("w:300/background:ff000a", Rendition(width: 300, format: .source, background: Color("#ff000a"))),
        ("w:300/f:png/q:70/mb:5000", Rendition(width: 300, format: .png)),
        ("f:webp", Rendition(width: 16_383, height: 16_383, format: .webp)),
        ("rs:fill:0:0:1:1/g:no/dpr:2/q:70/f:jpg", Rendition(width: 16_383, height: 16_383, format: .jpeg, quality: 70)),
        ("w:300/ar:1/sm:1/scp:true/cb:v7", Rendition(width: 300, format: .source)),
    ])
    func optionsMeanWhatTheyMeanToImgproxy(options: String, rendition: Rendition) async throws {
        try await expect("/\(options)/plain/\(Self.plain)", becomes: rendition, of: Self.plain)
    }

    @Test func effectsBecomeTheirFields() async throws {
        var rendition = Rendition(width: 300, format: .jpeg)
        rendition.dpr = 2
        rendition.look.blur = 1.5
        rendition.look.sharpen = 0.7
        rendition.rotate = .quarter
        rendition.trim = 10
        rendition.page = 3
        rendition.encoding.maxBytes = 5_000
        rendition.encoding.keep = [.copyright]
        let options = "w:300/dpr:2/bl:1.5/sh:0.7/rot:450/t:10/pg:3/mb:5000/kcr:1"
        try await expect("/\(options)/plain/\(Self.plain)@jpg", becomes: rendition, of: Self.plain)
    }

    @Test(arguments: [
        ("/w:300/plain/https://example.com/a.jpg@webp", "https://example.com/a.jpg", Rendition.Format.webp),
        ("/w:300/plain/https://example.com/a%20b.jpg%3Fc=1%40x@png", "https://example.com/a b.jpg?c=1@x", .png),
        ("/w:300/plain/https%3A%2F%2Fexample.com%2Fa.jpg", "https://example.com/a.jpg", .source),
        ("/w:300/aHR0cHM6Ly9leGFtcGxlLmNvbS9hLmpwZw.avif", "https://example.com/a.jpg", .avif),
        ("/w:300/aHR0cHM6Ly9leGFt/cGxlLmNvbS9hLmpwZw==", "https://example.com/a.jpg", .source),
        ("/w%3A300/aHR0cHM6Ly9leGFtcGxlLmNvbS9hLmpwZw.gif", "https://example.com/a.jpg", .gif),
    ])
    func sourcesArePlainOrBase64(path: String, source: String, format: Rendition.Format) async throws {
        try await expect(path, becomes: Rendition(width: 300, format: format), of: source)
    }

    private func expect(_ path: String, becomes rendition: Rendition, of source: String) async throws {
        let answer = try await bench.get("\(try signed(path))?wait=0")
        #expect(answer.status == 202, "\(path): \(answer.text)")
        let id = try ThumbnailRequest(source: source, renditions: [rendition]).thumbnailIDs()[0]
        #expect(try answer.json["uri"] == .string(CameoURI.thumbnail(id).text), "\(path)")
    }

    @Test(arguments: [
        ("/rs:fill-down:300:400", "resizing type \"fill-down\""), ("/rs:auto:300:400", "resizing type \"auto\""),
        ("/crop:100:100/w:300", "\"crop\""), ("/pd:10/w:300", "\"pd\""), ("/wm:0.5/w:300", "\"wm\""),
        ("/preset:small", "\"preset\""), ("/w:300/g:no:10:0", "offsets"), ("/w:300/g:obj:face", "gravity \"obj\""),
        ("/w:300/ar:0", "cannot be turned off"), ("/w:300/f:heic", "format \"heic\""), ("/w:many", "\"w\""),
        ("/w:300/t:10:ff0000", "ff0000"), ("/w:300/rot:45", "multiple of 90"),
        ("/rs:force:300", "force"), ("/rs:fill:300:400:0:1", "extend"), ("/w:300/bg:red", "not a colour"),
        ("/w:300/unknown:1", "\"unknown\""), ("/w:99999", "width"), ("/w:300/blur:1000", "blur"),
    ])
    func whatCameoLacksIsRefusedByName(options: String, words: String) async throws {
        let answer = try await bench.get(try signed("\(options)/plain/\(Self.plain)"))
        #expect(answer.status == 400 || answer.status == 422, "\(answer.status)")
        #expect(answer.text.contains(words.replacing("\"", with: "\\\"")), "\(answer.text)")
        #expect(try await bench.store.jobs(JobFilter()).isEmpty)
    }

    @Test(arguments: [
        "/w:300/plain/", "/w:300/", "/w:300/plain/a@jpg@png", "/w:300/!!!!", "/w:300/enc/abcd",
        "/w:300/plain/file:///etc/passwd",
        "/w:300/plain/local:///a.jpg", "/w:300/plain/%zz",
    ])
    func sourcesThatAreNoneAreRefused(path: String) async throws {
        #expect(try await bench.get(try signed(path)).status == 400)
    }

    @Test func theAnswerIsThePicture() async throws {
        let picture = WebBench.picture()
        let url = try signed("/rs:fit:64:64/plain/\(Self.plain)@webp")
        async let answer = bench.get(url)
        let worker = try await bench.register()
        try await eventually("the job is there") { try await !bench.store.jobs(JobFilter()).isEmpty }
        try await bench.work(worker, with: picture)
        #expect(try await answer.status == 200)
        #expect(try await answer.body == picture)
        // What comes after a question mark is not signed, and ignored.
        #expect(try await bench.get("\(url)?v=2").body == picture)
    }

    @Test func urlsExpire() async throws {
        let (past, future) = (1_600_000_000, 4_000_000_000)
        #expect(try await bench.get(try signed("/w:9/exp:\(past)/plain/\(Self.plain)")).status == 410)
        #expect(try await bench.get("\(try signed("/w:9/exp:\(future)/plain/\(Self.plain)"))?wait=0").status == 202)
    }

    @Test func onlyTheServerThatIsToldToAnswers() async throws {
        let path = "/rs:fit:64:64/plain/\(Self.plain)"
        #expect(try await WebBench().get(try signed(path)).status == 404)
        let open = try await WebBench {
            $0.imgproxyKeys = try ImgproxyKey.all(parsing: Self.keys)
            $0.allowsUnsigned = true
        }
        #expect(try await open.get("/insecure\(path)?wait=0").status == 202)
        // Its own paths stay.
        #expect(try await bench.get("/health/live").status == 200)
        #expect(try await bench.get("/favicon.ico").status == 404)
    }

    @Test(arguments: [
        "abc def", "0123456789abcdef0123456789abcdef", "012 4567", "zz0123456789abcdef0123456789abcdef 00",
    ])
    func aFileOfKeysIsStrict(line: String) {
        #expect(throws: SecretFile.Malformed.self) { try ImgproxyKey.all(parsing: "# fine\n\(line)\n") }
    }
}
