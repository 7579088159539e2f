internal import CameoHTTPCache
internal import CameoModel

typealias HTTPRoute = Route<HTTPURL>

extension HTTPURL: HTTPPlace {
    func resolving(_ reference: String) throws(RedirectRefusal) -> (place: HTTPURL, authorization: String?) {
        do throws(ParsingError) {
            let place = try HTTPURL(parsing: reference, relativeTo: self)
            return (place, place.authorization)
        } catch {
            throw .malformed(location: reference, reason: error.reason)
        }
    }

    /// - Throws: `source.invalid` for text that is not a URL.
    init(target: String) throws(JobFailure) {
        do throws(ParsingError) {
            try self.init(parsing: target)
        } catch {
            throw .fetch(.sourceInvalid, "\(SourceName.of(target)) is not a valid URL: \(error.reason)")
        }
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

extension Route<HTTPURL> {
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
