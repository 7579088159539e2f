import CameoFetch
import CameoHTTPCache
import CameoModel
import Foundation
import TestSupport
import Testing

/// RFC 9111 with real HTTP: a server that follows a script, the worker's fetcher, and the store.
@Suite(.origin, .timeLimit(.minutes(10)))
struct ConformanceTests {
    private let origin: Origin

    init() throws {
        origin = try #require(OriginScope.current)
    }

    @Test(arguments: ConformanceRow.table.indices)
    func table(index: Int) async throws {
        let row = ConformanceRow.table[index]
        var rules = row.rules
        rules.failureMemory = .zero
        let bench = try CacheBench(rules)
        let path = "/scripted/row-\(index)"
        let uri = origin.url(path)

        let fields = ConformanceRow.dated(row.answer, at: bench.clock.now())
        try await origin.script(path, ScriptedAnswer(row.status, fields, body: "first"))
        let first = try await bench.outcome(uri, headers: row.request)
        #expect(first == (row.status == 200 ? "fetched first" : "source.httpStatus"), "\(row.testDescription)")

        let started = bench.clock.now()
        bench.clock.advance(row.after)
        try await origin.script(path, answer(to: row, at: bench.clock.now()))
        try await check(row.second, of: row, bench, path, row.secondRequest ?? row.request, epoch: started)

        guard let (after, third) = row.third else { return }
        bench.clock.advance(after)
        if case .failed = third { try await origin.script(path, ScriptedAnswer(503)) }
        try await check(third, of: row, bench, path, row.request, epoch: started)
    }

    private func answer(to row: ConformanceRow, at now: Date) -> ScriptedAnswer {
        if var answer = row.then {
            answer.headers = answer.headers.map { $0[0] == "CC" ? ["Cache-Control", $0[1]] : $0 }
            if !answer.hangup { answer.headers.append(["Date", HTTPDate.text(of: now)]) }
            return answer
        }
        // A cache that should not ask receives new bytes, and one that forgets its validators an invalid 304.
        let date = "Date: \(HTTPDate.text(of: now))"
        if case .revalidated = row.second { return ScriptedAnswer(304, [date]) }
        return ScriptedAnswer(200, [date], body: "second")
    }

    private func check(
        _ expected: ConformanceRow.Second,
        of row: ConformanceRow,
        _ bench: CacheBench,
        _ path: String,
        _ headers: [String: String],
        epoch: Date
    ) async throws {
        let kept = row.third != nil && row.then?.status == 200 && expected == .cached ? "second" : "first"
        let before = try await origin.requests(of: path).count
        let outcome = try await bench.outcome(origin.url(path), headers: headers)
        let asked = Array(try await origin.requests(of: path).dropFirst(before))
        let validators = asked.first.map { request in
            request.filter { ["if-none-match", "if-modified-since"].contains($0.key) }
        }
        let comment = Comment(rawValue: "\(row.testDescription): \(outcome), \(bench.log.lines)")
        switch expected {
        case .cached:
            #expect(outcome == "cached \(kept)", comment)
            #expect(asked.isEmpty, comment)
        case .fetched:
            #expect(outcome == "fetched second", comment)
            #expect(asked.count == 1 && validators?.isEmpty == true, comment)
        case .revalidated(let wanted):
            #expect(outcome == "revalidated first", comment)
            #expect(asked.count == 1, comment)
            #expect(validators == Self.dated(wanted, at: epoch), comment)
        case .replaced:
            #expect(outcome == "fetched second", comment)
            #expect(asked.count == 1 && validators?.isEmpty == false, comment)
        case .stale:
            #expect(outcome == "stale first", comment)
            #expect(!asked.isEmpty, comment)
        case .failed(let code):
            #expect(outcome == code, comment)
            #expect(!asked.isEmpty, comment)
        }
    }

    private static func dated(_ validators: [String: String], at now: Date) -> [String: String] {
        let pairs = validators.map { name, value in
            let date = value.hasPrefix("@") ? Double(value.dropFirst()) : nil
            return (name.lowercased(), date.map { HTTPDate.text(of: now.addingTimeInterval($0)) } ?? value)
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
