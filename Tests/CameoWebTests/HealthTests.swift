import CameoModel
import CameoReport
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import StoreConformance
import TestSupport
import Testing

/// What monitors ask for.
@Suite(.timeLimit(.minutes(10)))
struct HealthTests {
    @Test func theServerIsReadyWithAWorker() async throws {
        let bench = try await WebBench()
        #expect(try await bench.get("/health/live").status == 200)
        let without = try await bench.get("/health/ready")
        #expect(without.status == 503)
        #expect(try without.json["checks"]["workers"] == "0 workers alive, at least 1 wanted")
        #expect(try without.json["checks"]["store"] == "ok")
        let other = try await WebBench()
        try await other.register()
        let with = try await other.get("/health/ready")
        #expect(with.status == 200, "\(with.text)")
        #expect(try with.json["status"] == "ok")
        #expect(try with.json["checks"]["bytes"] == "ok")
    }

    /// Its pictures are served all the same; the status and the metrics tell of it.
    @Test func aHookThatWasNotToldLeavesTheServerReady() async throws {
        let bench = try await WebBench()
        try await bench.register()
        _ = try await bench.enqueue(Rendition(width: 64))
        let columns = "job_id, hook, state, ended_at, at, since, status"
        try await bench.sql("INSERT INTO delivery(\(columns)) SELECT id, 'site', 4, 0, 0, 0, 3 FROM job")
        #expect(try await bench.get("/status").json["undelivered"] == [["hook": "site", "count": 1]])
        #expect(try await bench.get("/metrics").text.contains("cameo_hook_deliveries_failed{hook=\"site\"} 1\n"))
        let answer = try await bench.get("/health/ready")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try answer.json["checks"]["hooks"] == .null)
    }

    @Test func aJobThatWaitsTooLongIsALag() async throws {
        let bench = try await WebBench { $0.maximumLag = .zero }
        try await bench.register()
        _ = try await bench.enqueue(Rendition(width: 64))
        // A wait that has had its turn: some milliseconds have passed since the job was due.
        var answer = try await bench.get("/health/ready")
        try await eventually("the wait is a lag") {
            answer = try await bench.get("/health/ready")
            return answer.status != 200
        }
        #expect(try answer.json["checks"]["lag"] != "ok")
    }

    @Test func aStoreThatIsGoneIsNotReady() async throws {
        let bench = try await WebBench()
        try await bench.register()
        try FileManager.default.moveItem(atPath: bench.store.location, toPath: bench.folder.path("elsewhere"))
        let answer = try await bench.get("/health/ready")
        #expect(answer.status == 503)
        #expect(try answer.json["checks"]["store"] == "the store was removed or replaced")
    }

    @Test func theStatusIsTheWireContracts() async throws {
        let bench = try await WebBench()
        _ = try await bench.enqueue(Rendition(width: 64))
        let answer = try await bench.get("/status")
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "application/json")
        let report = try WireFormat.decode(StatusReport.self, from: answer.body)
        #expect(report.count(.available) == 1)
    }

    @Test func aStoreThatCannotBeReadLeavesTheServersOwnMetrics() async throws {
        let bench = try await WebBench()
        try await bench.sql("ALTER TABLE worker RENAME TO gone;")
        let answer = try await bench.get("/metrics", ["Accept": "application/openmetrics-text"])
        #expect(answer.status == 200)
        #expect(try MetricsDocument(answer.text)["cameo_store_up"] == 0)
    }

    @Test func metricsAreOpenMetricsForThoseWhoAcceptThem() async throws {
        let bench = try await WebBench()
        var request = ThumbnailRequest(source: "https://example.com/a.png", renditions: [Rendition(width: 64)])
        request.queue = "bulk"
        _ = try await bench.store.enqueue([request])
        try await bench.work(try await bench.register(), with: WebBench.picture())
        let accept = ["Accept": "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"]
        let first = try await bench.get("/metrics", accept)
        #expect(first.status == 200)
        #expect(first["Content-Type"] == MetricsText.Format.openMetrics.mediaType)
        let document = try MetricsDocument(first.text)
        #expect(document["cameo_build_info{program=\"cameo-web\",version=\"\(CameoVersion.current)\"}"] == 1)
        #expect(document["cameo_jobs{queue=\"bulk\",state=\"completed\"}"] == 1)
        #expect(document["cameo_jobs_ended_total{queue=\"bulk\",outcome=\"completed\"}"] == 1)
        let created = try #require(document["cameo_jobs_ended_created{queue=\"bulk\",outcome=\"completed\"}"])
        #expect((0..<600).contains(Date.now.timeIntervalSince1970 - created))
        #expect(document["cameo_workers{state=\"alive\"}"] == 1)
        #expect(document["cameo_thumbnails"] == 1)
        #expect(document["cameo_store_up"] == 1)
        let second = try MetricsDocument(try await bench.get("/metrics", accept).text)
        #expect(second["cameo_web_requests_total{route=\"metrics\",status=\"200\"}"] == 1)
        for (name, value) in document.samples where name.contains("_total") { #expect(second[name] ?? -1 >= value) }
        let plain = try await bench.get("/metrics")
        #expect(plain["Content-Type"] == MetricsText.Format.prometheus.mediaType)
        #expect(plain.text.contains("# TYPE cameo_jobs_ended_total counter\n") && !plain.text.contains("# EOF"))
    }
}

/// Reads the text format of OpenMetrics 1.0 as strictly as its grammar is.
struct MetricsDocument {
    struct Malformed: Error {
        let line: String
    }

    private(set) var samples: [String: Double] = [:]

    subscript(sample: String) -> Double? { samples[sample] }

    init(_ text: String) throws {
        guard text.hasSuffix("\n# EOF\n") else { throw Malformed(line: "the end") }
        var (family, kind, seen) = ("", "", Set<String>())
        let sample =
            #/([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (-?[0-9.]+)/#
        for line in text.dropLast("# EOF\n".count).split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if let type = line.wholeMatch(of: #/# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|info|histogram)/#) {
                (family, kind) = (String(type.1), String(type.2))
                guard seen.insert(family).inserted else { throw Malformed(line: String(line)) }
            } else if let unit = line.wholeMatch(of: #/# UNIT (\S+) ([a-z]+)/#) {
                guard unit.1 == family, family.hasSuffix("_\(unit.2)") else { throw Malformed(line: String(line)) }
            } else if let help = line.wholeMatch(of: #/# HELP (\S+) .+/#) {
                guard help.1 == family else { throw Malformed(line: String(line)) }
            } else if let match = line.wholeMatch(of: sample), let value = Double(match.3) {
                let ending = ["counter": "_total", "info": "_info"][kind] ?? ""
                let created = kind == "counter" ? ["_created"] : []
                let endings = kind == "histogram" ? ["_bucket", "_sum", "_count", "_created"] : [ending] + created
                guard endings.contains(where: { match.1 == family + $0 }) else { throw Malformed(line: String(line)) }
                let name = String(match.1) + String(match.2 ?? "")
                guard samples.updateValue(value, forKey: name) == nil else { throw Malformed(line: String(line)) }
            } else {
                throw Malformed(line: String(line))
            }
        }
    }
}
