internal import CameoHTTPCache
internal import Foundation
internal import TestSupport
internal import Testing

extension ConformanceRow {
    /// Holds a cache against the row.
    package func check(_ subject: some CacheSubject) async throws {
        let started = await subject.now()
        try await subject.script(ScriptedAnswer(status, Self.dated(answer, at: started), body: "first"))
        let first = try await subject.outcome(request)
        #expect(first == (status == 200 ? "fetched first" : "source.httpStatus"), "\(testDescription)")

        await subject.advance(after)
        try await subject.script(reply(at: await subject.now()))
        try await check(second, subject, secondRequest ?? request, epoch: started)

        guard let (after, third) = third else { return }
        await subject.advance(after)
        if case .failed = third { try await subject.script(ScriptedAnswer(503)) }
        try await check(third, subject, request, epoch: started)
    }

    private func reply(at now: Date) -> ScriptedAnswer {
        if var answer = then {
            answer.headers = answer.headers.map { $0[0] == "CC" ? ["Cache-Control", $0[1]] : $0 }
            if !answer.hangup { answer.headers.append(["Date", HTTPDate.text(of: now)]) }
            return answer
        }
        // A cache that asks unasked gets what it has not, and one that asks without validators a 304 that is none.
        let date = "Date: \(HTTPDate.text(of: now))"
        if case .revalidated = second { return ScriptedAnswer(304, [date]) }
        return ScriptedAnswer(200, [date], body: "second")
    }

    private func check(
        _ expected: Second,
        _ subject: some CacheSubject,
        _ headers: [String: String],
        epoch: Date
    ) async throws {
        let kept = third != nil && then?.status == 200 && expected == .cached ? "second" : "first"
        let before = try await subject.requests().count
        let outcome = try await subject.outcome(headers)
        let asked = Array(try await subject.requests().dropFirst(before))
        let validators = asked.first.map { request in
            request.filter { ["if-none-match", "if-modified-since"].contains($0.key) }
        }
        let comment = Comment(rawValue: "\(testDescription): \(outcome)")
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
            #expect(validators == Self.validators(wanted, at: epoch), comment)
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

    private static func validators(_ validators: [String: String], at now: Date) -> [String: String] {
        let pairs = validators.map { name, value in
            let date = value.hasPrefix("@") ? Double(value.dropFirst()) : nil
            return (name.lowercased(), date.map { HTTPDate.text(of: now.addingTimeInterval($0)) } ?? value)
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
