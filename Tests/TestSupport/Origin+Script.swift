internal import Foundation

/// What a scripted path of an ``Origin`` answers to one request.
package struct ScriptedAnswer: Encodable, Sendable {
    package var status: Int
    /// All there are, but for the length: not even a `Date` is added.
    package var headers: [[String]]
    package var body: String
    /// Closes the connection instead of answering.
    package var hangup = false
    /// Closes the connection after so many bytes of the body.
    package var cut: Int?
    /// Waits for ``Origin/release()``.
    package var held = false

    /// The fields are written `Name: value`.
    package init(_ status: Int = 200, _ fields: [String] = [], body: String = "") {
        self.status = status
        headers = fields.map { field in
            field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        self.body = body
    }

    package static var hangup: ScriptedAnswer {
        var answer = ScriptedAnswer(0)
        answer.hangup = true
        return answer
    }
}

extension Origin {
    /// From now on `/scripted/…` answers so, one after the other, and then for ever as the last one.
    package func script(_ path: String, _ answers: ScriptedAnswer...) async throws {
        try await script(path, answers)
    }

    package func script(_ path: String, _ answers: [ScriptedAnswer]) async throws {
        let steps = String(decoding: try JSONEncoder().encode(answers), as: UTF8.self)
        _ = try await channel.ask("script \(path) \(steps)")
    }

    /// The headers of each request for the scripted path so far, names in lower case.
    package func requests(of path: String) async throws -> [[String: String]] {
        let answer = try await channel.ask("requests \(path)")
        return try JSONDecoder().decode([[String: String]].self, from: Data(answer.utf8))
    }

    /// Ends the server at once; returns when it is gone.
    package func end() async {
        _ = try? await channel.ask("end")
    }
}
