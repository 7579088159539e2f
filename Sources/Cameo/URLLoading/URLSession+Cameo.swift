internal import Foundation
public import FoundationNetworking

extension URLSessionConfiguration {
    /// A configuration whose sessions also load `cameo:` URLs, from this client's store. Other schemes are loaded as
    /// ever. It is a copy of `base`. Any number of clients may have configurations in one process; each stays open until
    /// the process ends.
    public static func cameo(
        _ client: Client,
        basedOn base: URLSessionConfiguration = .default
    ) -> URLSessionConfiguration {
        let configuration = base.copy() as? URLSessionConfiguration ?? base
        configuration.protocolClasses = [ProtocolClasses.type(for: client)] + (base.protocolClasses ?? [])
        return configuration
    }

    /// As ``cameo(_:basedOn:)`` for the store in this folder, which is made if there is none.
    public static func cameo(
        store path: String,
        basedOn base: URLSessionConfiguration = .default
    ) throws(CameoError) -> URLSessionConfiguration {
        cameo(ProtocolClasses.shared(try Client(store: path)), basedOn: base)
    }
}

extension URLSession {
    /// A session that also loads `cameo:` URLs, from this client's store.
    public static func cameo(_ client: Client) -> URLSession {
        URLSession(configuration: .cameo(client))
    }

    /// A session that also loads `cameo:` URLs, from the store in this folder, which is made if there is none.
    public static func cameo(store path: String) throws(CameoError) -> URLSession {
        URLSession(configuration: try .cameo(store: path))
    }
}
