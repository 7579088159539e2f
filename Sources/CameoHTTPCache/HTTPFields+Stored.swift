extension HTTPFields {
    /// Fields for one connection or for a proxy (section 3.1; RFC 9110, section 7.6.1).
    private static let neverStored: Set = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    /// The fields of a response that may be stored: all but those for a proxy or for the connection, to which `Connection`
    /// may add more (section 3.1).
    package var storable: HTTPFields {
        let connection = values(of: "Connection").flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
        let options = connection.map { String(decoding: $0.trimmed, as: UTF8.self).asciiLowercased }
        let excluded = Self.neverStored.union(options)
        return HTTPFields(lines.filter { !excluded.contains($0.name.asciiLowercased) })
    }
}

extension HTTPFields {
    /// The fields of a response whose body has been decoded: those that described the encoded body are removed.
    ///
    /// - Parameter bytes: the length of the decoded body; nil leaves the length out.
    /// - Returns: all other fields unchanged.
    package func decoded(bytes: Int?) -> HTTPFields {
        var fields = self
        fields.set("Content-Encoding", nil)
        fields.set("Content-Length", bytes.map { "\($0)" })
        return fields
    }
}

extension CacheableResponse {
    /// The response as it is stored: without fields for the connection, without cookies, which are for one client, and
    /// without fields that describe the encoded body.
    package var kept: CacheableResponse {
        var fields = fields.storable.decoded(bytes: nil)
        fields.set("Set-Cookie", nil)
        return CacheableResponse(status: status, fields: fields, requestTime: requestTime, responseTime: responseTime)
    }

    /// The fields as they are passed to the requester together with the decoded body. A response to HEAD and a 304 describe
    /// a body that they do not have (RFC 9110, section 8.6), and stay as they are.
    package func handedOn(bytes: Int, to method: String) -> HTTPFields {
        let describesAnother = method == "HEAD" || status == 204 || status == 304
        return describesAnother ? fields.storable : fields.storable.decoded(bytes: bytes)
    }
}
