extension HTTPFields {
    /// For one connection, or for a proxy (section 3.1; RFC 9110, section 7.6.1).
    private static let neverStored: Set = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    /// The fields of an answer that a cache keeps: all but those that are for the connection, which `Connection` may add
    /// to, or for a proxy (section 3.1).
    package var storable: HTTPFields {
        let connection = values(of: "Connection").flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
        let options = connection.map { String(decoding: $0.trimmed, as: UTF8.self).asciiLowercased }
        let excluded = Self.neverStored.union(options)
        return HTTPFields(lines.filter { !excluded.contains($0.name.asciiLowercased) })
    }
}

extension CacheableResponse {
    /// As it is kept: without what was for its connection, without cookies, which are for one client, and without what
    /// describes the bytes as they were encoded on the way, for they are kept decoded.
    package var kept: CacheableResponse {
        var fields = self.fields.storable
        for name in ["Set-Cookie", "Content-Encoding", "Content-Length"] { fields.set(name, nil) }
        return CacheableResponse(status: status, fields: fields, requestTime: requestTime, responseTime: responseTime)
    }
}
