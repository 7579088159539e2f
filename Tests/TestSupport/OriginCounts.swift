/// What a server was asked, by path without query.
package struct OriginCounts: Decodable, Sendable {
    /// TCP connections accepted.
    package let connections: Int
    package let requests: [String: Int]
    /// Clients that hung up in the middle of an answer.
    package let aborts: [String: Int]
    /// The most requests that were under way at one time.
    package let peaks: [String: Int]
}
