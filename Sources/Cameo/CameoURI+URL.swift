public import Foundation

extension CameoURI {
    /// For any framework that loads pictures by URL, through a session that has Cameo's protocol.
    public var url: URL {
        guard let url = URL(string: text) else {
            preconditionFailure("\(text) has no character that a URL may not have")
        }
        return url
    }

    /// The URL that waits for a thumbnail which is still being made, and answers as soon as it is there. Seconds
    /// outside of 0 to 30 are set to the nearer of the two.
    public func url(waiting seconds: Double) -> URL {
        let allowed = min(max(seconds, CameoAddress.waitRange.lowerBound), CameoAddress.waitRange.upperBound)
        return url.appending(queryItems: [URLQueryItem(name: "wait", value: "\(allowed)")])
    }
}
