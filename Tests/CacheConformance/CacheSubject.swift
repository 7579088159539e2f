package import Foundation
package import TestSupport

/// A cache in front of one URL of a server that a test scripts, with a clock that the test moves.
package protocol CacheSubject: Sendable {
    func now() async -> Date
    func advance(_ seconds: Double) async
    /// How the server answers from now on.
    func script(_ answer: ScriptedAnswer) async throws
    /// The headers of each request that the server has had, names in lower case.
    func requests() async throws -> [[String: String]]
    /// What a request came to, in one line: how its answer came (`fetched`, `cached`, `revalidated`, `stale`) and its
    /// bytes, or the failure's code.
    func outcome(_ headers: [String: String]) async throws -> String
}
