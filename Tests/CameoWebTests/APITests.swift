import CameoModel
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import StoreConformance
import TestSupport
import Testing

/// The OpenAPI document, and that it is true.
@Suite(.timeLimit(.minutes(10)))
struct APITests {
    private static let token = WebBench.bearer("operator")
    private let bench: WebBench

    init() async throws {
        bench = try await WebBench(tokens: ["operator": "read,enqueue,operate"]) { $0.allowsUnsigned = true }
    }

    private func paths() async throws -> [String: JSONValue] {
        let answer = try await bench.get("/openapi.json")
        guard answer.status == 200, case .object(let paths) = try answer.json["paths"] else {
            throw RawAnswer.Malformed(text: answer.text)
        }
        return paths
    }

    /// The client has the document's types.
    @Test func aGeneratedClientEnqueuesWaitsAndFetches() async throws {
        let folder = try TemporaryFolder()
        let store = ["--store", folder.path("store")]
        let tokens = try folder.write(Data("test read,enqueue 0123456789abcdef\n".utf8), to: "tokens")
        let server = try await WebProcess.start(
            store + ["--listen", "127.0.0.1:0", "--tokens", tokens],
            environment: [:]
        )
        defer { server.process.killGroup() }
        let worker = try ChildProcess(try WebProcess.executable("cameo-worker"), store)
        defer { worker.killGroup() }
        let client = try await run(
            Repository.file(".build/object-servers/bin/python").path,
            [Repository.file("Tests/CameoWebTests/generated_client.py").path, server.url, folder.url.path]
        )
        #expect(client.outputText == "available completed png b'\\x89PNG'\n", "\(client.errorText)")
    }

    @Test(arguments: ["openapi-python-client", "python", "typescript-fetch"])
    func generatedClientsReadAndWriteEveryExample(generator: String) async throws {
        let folder = try TemporaryFolder()
        let script = Repository.file("Tests/CameoWebTests/generated_readers.py").path
        let contract = Repository.file("proto-json").path
        let result = try await run(
            Repository.file(".build/object-servers/bin/python").path,
            [script, generator, "http://127.0.0.1:\(bench.port)", contract, folder.url.path],
            environment: ["PYTHONDONTWRITEBYTECODE": "1"]
        )
        #expect(result.outputText == "ok, all\n", "\(result.outputText)\(result.errorText.suffix(2_000))")
    }

    @Test func theDocumentIsCompleteAndKnowsItsServer() async throws {
        let prefixed = try await WebBench { $0.basePath = "/cameo" }
        let answer = try await prefixed.get("/cameo/openapi.json")
        #expect(answer["Content-Type"] == "application/json")
        #expect(try answer.json["openapi"] == "3.1.0")
        #expect(try answer.json["servers"] == [["url": "/cameo"]])
        #expect(try answer.json["info"]["version"] == .string(CameoVersion.current))
        // References to files would mean nothing to a reader of this one.
        let hasReferencesToFiles = answer.text.contains(#/"\$ref":"[^#]/#)
        #expect(!hasReferencesToFiles)
        #expect(try await bench.get("/openapi.json").json["servers"] == [["url": "/"]])
    }

    @Test func everyRouteIsDescribed() async throws {
        let described = Set(try await paths().keys.map { $0.split(separator: "/").first.map(String.init) ?? "" })
        for route in Route.allCases where ![.page, .imgproxy, .unknown].contains(route) {
            #expect(described.contains(route.rawValue), "\(route)")
        }
        #expect(described.subtracting(Route.allCases.map(\.rawValue)) == [""])
    }

    @Test func everyMethodIsDescribedAndNoOther() async throws {
        let none = String(repeating: "0", count: 32)
        let samples = [
            "thumb/{name}": "thumb/\(none)", "thumb/{id}": "thumb/\(none)", "placeholder/{id}": "placeholder/\(none)",
            "{digest}": "sha256-\(none)\(none)",
            "{name}": "default", "{id}": "1", "{url}": "x", "{rendition}": "64x64",
            "{source}": "https%3A%2F%2Fexample.com%2Fa.png",
        ]
        for (template, operations) in try await paths() {
            guard case .object(let operations) = operations else { continue }
            let described = Set(operations.keys.map { $0.uppercased() })
            // The longest first.
            let path = samples.sorted { $0.key.count > $1.key.count }
                .reduce(template) { $0.replacing($1.key, with: $1.value) }
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
                // A stream does not end.
                if template == "/events", method == "GET" { continue }
                let answer = try await bench.send(method, path, Self.token, body: method == "POST" ? Data() : nil)
                if described.contains(method) {
                    let isThere = !answer.text.contains("nothing here") && !answer.text.contains("at this path")
                    #expect(answer.status == 200 || answer.status != 405 && isThere, "\(method) \(template)")
                } else {
                    #expect(answer.status == 405, "\(method) \(template)")
                    let allowed = Set(answer["Allow"]?.split(separator: ", ").map(String.init) ?? [])
                    #expect(allowed == described, "\(template)")
                }
            }
        }
    }

    @Test func answersAreAsDescribed() async throws {
        var answers: [JSONValue] = []
        func note(_ method: String, _ path: String, _ answer: RawAnswer) {
            answers.append([
                "method": .string(method), "path": .string(path), "status": .integer(Int64(answer.status)),
                "type": .string(answer["Content-Type"] ?? ""), "body": .string(answer.text),
            ])
        }
        func post(_ path: String, _ body: String = "", type: String = "application/json") async throws {
            let headers = Self.token.merging(["Content-Type": type]) { $1 }
            note("POST", path, try await bench.send("POST", path, headers, body: Data(body.utf8)))
        }
        let request = #""renditions":[{"width":64},{"height":32,"format":"jpeg"}],"queue":"bulk","metadata":{"a":1}"#
        try await post("/jobs", #"{"source":"https://example.com/1.png","batch":"b",\#(request)}"#)
        try await post("/jobs", #"{"source":"https://example.com/1.png",\#(request)}"#)
        let worker = try await bench.register()
        try await bench.work(worker, with: WebBench.picture())
        try await post("/jobs", #"{"source":"https://example.com/1.png","batch":"b","refresh":"never",\#(request)}"#)
        try await post("/jobs", #"{"source":"https://example.com/1.png","refresh":"never",\#(request)}"#)
        try await post("/jobs", #"{"source":"https://example.com/2.png",\#(request)}"#)
        try await bench.discard(worker)
        try await post("/jobs", #"{"source":"https://example.com/3.png",\#(request)}"#)
        try await post("/jobs", #"{"source":"https://example.com/3.png"}"#)
        try await post("/jobs?size=64x64", "GIF89a", type: "image/gif")
        try await post("/jobs", "", type: "text/plain")
        for path in [
            "/jobs/1/cancel", "/jobs/3/retry", "/jobs/99/cancel", "/jobs/cancel?queue=default", "/jobs/retry",
            "/queues/bulk/pause", "/queues/bulk/resume", "/queues/none/pause",
        ] { try await post(path) }
        try await post("/batches/b/seal", #"{"hook":"site"}"#)
        try await post("/batches/b/seal")
        try await post("/batches/b/seal", #"{"hook":"No hook"}"#)
        try await post("/queues/bulk/limit", #"{"concurrency":4,"rate":"10/s"}"#)
        try await post("/queues/bulk/limit", #"{"concurrency":"many"}"#)
        let thumbnail = "/thumb/\(try await bench.store.job(1).thumbnails[0].uri.text.suffix(32))"
        for path in [
            "/", "/openapi.json", "/jobs", "/jobs?limit=1", "/jobs?limit=0", "/jobs/1", "/jobs/4", "/jobs/99",
            "/failures",
            "/batches", "/batches?limit=1", "/batches/b", "/batches/none", "/queues", "/status", "/history",
            "/health/live",
            "/health/ready", "/metrics", "/access", "/nothing", thumbnail, "\(thumbnail).json",
            "/placeholder/\(thumbnail.suffix(32))",
            "/thumb/\(String(repeating: "0", count: 32))", "/source/nothing",
            "/make/64x64/https%3A%2F%2Fexample.com%2F9.png",
        ] {
            note("GET", path, try await bench.get(path, Self.token))
            note("HEAD", path, try await bench.send("HEAD", path, Self.token))
        }
        note("GET", "/jobs", try await bench.get("/jobs"))
        let task: JSONValue = ["document": try await bench.get("/openapi.json").json, "answers": .array(answers)]
        let script = Repository.file("Tests/CameoWebTests/validate_answers.py").path
        let result = try await run("/usr/bin/python3", [script], input: Data(task.canonicalText.utf8))
        #expect(result.exitStatus == 0, "\(result.outputText)\(result.errorText)")
    }
}
