public import Foundation

extension CameoURI {
    /// The URL for any framework that loads pictures through a session with Cameo's protocol.
    public var url: URL {
        guard let url = URL(string: text) else {
            preconditionFailure("\(text) has only characters that are allowed in a URL")
        }
        return url
    }

    /// A URL whose load waits for a thumbnail that is still being made, and completes as soon as it exists. The wait is
    /// limited to 0 to 30 seconds.
    public func url(waiting seconds: Double) -> URL {
        let allowed = min(max(seconds, CameoAddress.waitRange.lowerBound), CameoAddress.waitRange.upperBound)
        return url.appending(queryItems: [URLQueryItem(name: "wait", value: "\(allowed)")])
    }
}
