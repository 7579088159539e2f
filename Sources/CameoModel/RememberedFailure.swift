package import Foundation

/// What a source's server said, or that it could not be reached, a moment ago.
package struct RememberedFailure: Hashable, Sendable {
    package let failure: JobFailure
    package let since: Date
    package let until: Date
    /// Whom the fetch met; empty where there was no address to meet.
    package let peers: [Peer]

    package init(_ failure: JobFailure, since: Date, until: Date, peers: [Peer]) {
        self.failure = failure
        self.since = since
        self.until = until
        self.peers = peers
    }
}
