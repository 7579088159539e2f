package import Foundation

/// A recent failure to fetch a source, kept for a while so that the source is not asked again at once.
package struct RememberedFailure: Hashable, Sendable {
    package let failure: JobFailure
    package let since: Date
    package let until: Date
    /// The peers that the fetch connected to; empty if there were none.
    package let peers: [Peer]

    package init(_ failure: JobFailure, since: Date, until: Date, peers: [Peer]) {
        self.failure = failure
        self.since = since
        self.until = until
        self.peers = peers
    }
}
