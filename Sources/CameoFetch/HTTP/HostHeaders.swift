internal import CameoHTTPCache

/// The operator's headers for all origins.
///
/// They are looked up for each redirect by the whole origin, so none is sent on to another host, another port or, after a
/// downgrade, over plain HTTP. They are the same for all tenants and therefore not part of a thumbnail's scope: everyone who
/// may enqueue may get thumbnails of the pictures that they unlock.
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

    /// The stop's own fields, which take precedence, and those for its origin.
    func fields(at stop: HTTPRoute.Stop) -> HTTPFields {
        var fields = stop.fields
        for header in byOrigin[stop.place.origin] ?? [] where stop.fields[header.name] == nil {
            fields.append(header.name, header.value)
        }
        return fields
    }
}
