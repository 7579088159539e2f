/// The operator's headers of all origins.
///
/// They are looked up anew for each redirect hop, by the whole origin, so none goes on to another host, another port or,
/// after a downgrade, to plain HTTP. They are the same for every request of whatever tenant, so they are no part of a
/// thumbnail's scope: whoever may enqueue may have thumbnails of what they open.
struct HostHeaders: Sendable {
    private let byOrigin: [HTTPURL.Origin: [HostHeader]]

    init(_ headers: [HostHeader]) throws(FetchConfigurationError) {
        byOrigin = Dictionary(grouping: headers, by: \.origin)
        for (origin, headers) in byOrigin {
            let names = headers.map { $0.name.lowercased() }
            guard Set(names).count == names.count else {
                throw .hostHeader("\(origin.host): a header is there twice")
            }
        }
    }

    /// The hop's own headers, which come first, and what its origin gets besides. A user name in the URL is a credential
    /// of the request's own, and keeps the operator's `Authorization` out.
    func headers(for hop: HTTPHop) -> [String: String] {
        guard let additions = byOrigin[hop.url.origin] else { return hop.headers }
        var taken = Set(hop.headers.keys.map { $0.lowercased() })
        if hop.credentials != nil { taken.insert("authorization") }
        var headers = hop.headers
        for header in additions where !taken.contains(header.name.lowercased()) { headers[header.name] = header.value }
        return headers
    }
}
