package import CameoStore

/// That large blobs are read from where the store keeps them, by URLs that are signed for a while.
package struct BlobRedirects: Sendable {
    /// The scheme, host and port of the URLs.
    package let origin: String
    /// The server that clients reach; nil for the one that the store itself uses.
    let endpoint: Endpoint?

    /// Returns nil if the store keeps no blobs where clients could read them.
    ///
    /// - Parameters:
    ///   - store: whose blobs are read.
    ///   - endpoint: the server that clients reach; nil for the one that the store itself uses.
    package init?(of store: some BlobStore, at endpoint: Endpoint?) {
        guard let origin = store.temporaryURLOrigin(at: endpoint) else { return nil }
        (self.origin, self.endpoint) = (origin, endpoint)
    }
}
