internal import CameoModel
public import Foundation

/// A name for bytes in a store: `cameo://thumb/<id>`, `cameo://blob/sha256-<digest>` or
/// `cameo://source/<percent-encoded source>`.
public struct CameoURI: Hashable, Sendable, LosslessStringConvertible {
    let model: CameoModel.CameoURI
    /// For any framework that loads pictures by URL, through a session that has Cameo's protocol.
    public let url: URL

    /// Nil for a text that is no such name. What the name stands for need not exist.
    public init?(_ text: String) {
        guard let model = CameoModel.CameoURI(text) else { return nil }
        self.init(model)
    }

    init?(_ model: CameoModel.CameoURI) {
        guard let url = URL(string: model.text) else { return nil }
        self.model = model
        self.url = url
    }

    /// The text, in its one canonical spelling.
    public var description: String { model.text }

    /// The URL that waits for a thumbnail which is still being made, and answers as soon as it is there. Seconds
    /// outside of 0 to 30 are set to the nearer of the two.
    public func url(waiting seconds: Double) -> URL {
        let allowed = min(max(seconds, CameoAddress.waitRange.lowerBound), CameoAddress.waitRange.upperBound)
        return url.appending(queryItems: [URLQueryItem(name: "wait", value: "\(allowed)")])
    }
}
