internal import CameoModel

/// Where a fetch has got to on its way through redirects, and what may be sent there.
struct HTTPHop: Sendable {
    /// How messages call the source: the URL that was asked for, without credentials.
    let name: String
    private(set) var url: HTTPURL
    private(set) var credentials: HTTPURL.Credentials?
    private(set) var headers: [String: String]
    private var redirects = 0

    /// - Throws: `source.invalid` for what is not a URL or not a header.
    init(to source: String, headers: [String: String]) throws(JobFailure) {
        do throws(HTTPURL.ParsingError) {
            url = try HTTPURL(parsing: source)
        } catch {
            throw .fetch(.sourceInvalid, "\(SourceName.of(source)) is not a valid URL: \(error.reason)")
        }
        name = SourceName.of(url.text)
        credentials = url.credentials
        self.headers = headers
        if let broken = headers.first(where: { !Self.isHeader($0.key, $0.value) }) {
            let header = SourceName.of(broken.key)
            throw .fetch(.sourceInvalid, "the header \(header) for \(name) has a character that no header may have")
        }
    }

    /// How messages call the URL of this hop.
    var description: String {
        redirects == 0 ? name : "\(SourceName.of(url.text)) (to which \(name) redirects)"
    }

    /// Goes on to where a redirect points.
    ///
    /// Any header of the request may be a credential, so all of them, and the user name and password, stay behind when
    /// the scheme, host or port changes, and do not come back. Credentials in the target are not taken up.
    /// - Throws: `source.forbidden` when it is one redirect too many or no HTTP URL, `source.invalid` when no URL.
    mutating func follow(_ location: String, atMost maximum: Int) throws(JobFailure) {
        guard redirects < maximum else {
            let count = maximum == 1 ? "once" : "\(maximum) times"
            throw .fetch(
                .sourceForbidden,
                "\(name) redirects more than the allowed \(count), last to \(SourceName.of(location))"
            )
        }
        guard ["http", "https", nil].contains(URIScheme.of(location)) else {
            throw .fetch(
                .sourceForbidden,
                "\(name) redirects to \(SourceName.of(location)), and redirects are followed to http and https only"
            )
        }
        let target: HTTPURL
        do throws(HTTPURL.ParsingError) {
            target = try HTTPURL(parsing: location, relativeTo: url)
        } catch {
            throw .fetch(
                .sourceInvalid,
                "\(name) redirects to \(SourceName.of(location)), which is not a valid URL: \(error.reason)"
            )
        }
        if target.origin != url.origin {
            headers = [:]
            credentials = nil
        }
        url = target
        redirects += 1
    }

    /// A second line of defence behind the validation of the request: nothing that ends a line goes into one.
    private static func isHeader(_ name: String, _ value: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }
}

extension HTTPURL.ParsingError {
    var reason: String {
        switch self {
        case .malformed(let reason): reason
        case .scheme(let scheme): "its scheme is \(scheme)"
        }
    }
}
