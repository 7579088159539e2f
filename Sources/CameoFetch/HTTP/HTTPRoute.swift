internal import CameoHTTPCache
internal import CameoHTTPTransfer
internal import CameoModel

/// The places along redirects, as libcurl resolves them, and what is sent to each.
typealias HTTPRoute = RedirectRoute<HTTPURL>

extension HTTPURL: HTTPPlace {
    func resolving(_ reference: String) throws(RedirectRefusal) -> (place: HTTPURL, authorization: String?) {
        do throws(CurlURL.ParsingError) {
            let place = try HTTPURL(parsing: reference, relativeTo: self)
            return (place, place.authorization)
        } catch {
            throw .malformed(location: reference, reason: error.reason)
        }
    }

    /// - Throws: `source.invalid` for text that is not a URL.
    init(target: String) throws(JobFailure) {
        do throws(CurlURL.ParsingError) {
            try self.init(parsing: target)
        } catch {
            throw .fetch(.sourceInvalid, "\(SourceName.of(target)) is not a valid URL: \(error.reason)")
        }
    }
}

extension HTTPFields {
    /// The headers of a request, including the one that the user name and password of its URL become.
    ///
    /// - Throws: `source.invalid` for a malformed header, such as one with a line break: a second line of defence behind the
    ///   validation of the request.
    init(_ headers: [String: String], for target: HTTPURL) throws(JobFailure) {
        self.init(headers.sorted { $0.key < $1.key }.map { Line(name: $0.key, value: $0.value) })
        if let broken = lines.first(where: { !$0.isWellFormed }) {
            let (header, name) = (SourceName.of(broken.name), SourceName.of(target.text))
            throw .fetch(.sourceInvalid, "the header \(header) for \(name) has a character that no header may have")
        }
        if let authorization = target.authorization, self["Authorization"] == nil {
            append("Authorization", authorization)
        }
    }
}

extension HTTPFields.Line {
    fileprivate var isWellFormed: Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }
}

extension RedirectRoute<HTTPURL> {
    /// The name of the source in messages: the requested URL without credentials.
    var name: String { SourceName.of(start.text) }

    /// The name of the current URL in messages.
    var description: String {
        redirects.isEmpty ? name : "\(SourceName.of(place.text)) (to which \(name) redirects)"
    }

    func failure(_ refusal: RedirectRefusal) -> JobFailure {
        switch refusal {
        case .tooMany(let location):
            let count = redirects.count == 1 ? "once" : "\(redirects.count) times"
            return .fetch(
                .sourceForbidden,
                "\(name) redirects more than the allowed \(count), last to \(SourceName.of(location))"
            )
        case .unsupportedScheme(let location):
            return .fetch(
                .sourceForbidden,
                "\(name) redirects to \(SourceName.of(location)), and redirects are followed to http and https only"
            )
        case .malformed(let location, let reason):
            return .fetch(
                .sourceInvalid,
                "\(name) redirects to \(SourceName.of(location)), which is not a valid URL: \(reason)"
            )
        }
    }
}

/// A header that the operator adds to every request to one origin, usually a credential.
package struct HostHeader: Sendable {
    let origin: HTTPURL.Origin
    let name: String
    let value: String

    /// Reads `HOST: Name: value`.
    ///
    /// - Throws: ``FetchConfigurationError/hostHeader(_:)``, which never contains the value.
    package init(parsing text: String) throws(FetchConfigurationError) {
        let parts = text.split(separator: ": ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .hostHeader("must be written HOST: Name: value") }
        try self.init(host: String(parts[0]), name: String(parts[1]), value: String(parts[2]))
    }

    /// `host` is `example.com`, which means `https://example.com:443` alone, optionally with a port or a scheme. A secret is
    /// sent in the clear only if the operator wrote `http://`.
    ///
    /// - Throws: ``FetchConfigurationError/hostHeader(_:)``.
    package init(host: String, name: String, value: String) throws(FetchConfigurationError) {
        let isURL = ["http://", "https://"].contains { host.lowercased().hasPrefix($0) }
        let authority = isURL ? host.utf8.dropFirst(host.lowercased().hasPrefix("https") ? 8 : 7) : host.utf8[...]
        guard !authority.isEmpty, !authority.contains(where: { "/?#@\\".utf8.contains($0) || $0 <= 0x20 }) else {
            throw .hostHeader("\(SourceName.of(host)): must begin with a host, such as example.com or example.com:8443")
        }
        do throws(CurlURL.ParsingError) {
            origin = try HTTPURL(parsing: isURL ? host : "https://\(host)").origin
        } catch {
            throw .hostHeader("\(SourceName.of(host)): is not a host: \(error.reason)")
        }
        do throws(InvalidRequest) {
            try HeaderRules.validate([name: value], at: SourceName.of(host))
        } catch {
            throw .hostHeader("\(error)")
        }
        self.name = name
        self.value = value
    }

    /// Reads `{"example.com": {"Authorization": "Bearer …"}}`.
    ///
    /// - Throws: ``FetchConfigurationError/hostHeader(_:)``.
    package static func list(parsing json: some Sequence<UInt8>) throws(FetchConfigurationError) -> [HostHeader] {
        let hosts: JSONValue
        do throws(JSONSyntaxError) {
            hosts = try JSONValue(parsing: json)
        } catch {
            throw .hostHeader("malformed JSON: \(error)")
        }
        guard case .object(let members) = hosts else {
            throw .hostHeader("must be an object with a field for each host")
        }
        var list: [HostHeader] = []
        for (host, headers) in members.sorted(by: { $0.key < $1.key }) {
            guard case .object(let values) = headers else {
                throw .hostHeader("\(SourceName.of(host)): must be an object of headers")
            }
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                guard case .string(let value) = value else {
                    throw .hostHeader("\(SourceName.of(host)).\(SourceName.of(name)): must be a string")
                }
                list.append(try HostHeader(host: host, name: name, value: value))
            }
        }
        return list
    }
}
