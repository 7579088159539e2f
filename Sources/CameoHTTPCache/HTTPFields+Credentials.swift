extension HTTPFields {
    /// The fields that may be sent to a server that the requester did not name (RFC 9110, section 15.4).
    package var withoutCredentials: HTTPFields { HTTPFields(lines.filter(\.isHarmless)) }

    /// Whether any field may be a credential: `Authorization` is not the only one.
    package var mayHaveCredentials: Bool { !lines.allSatisfy(\.isHarmless) }
}

extension HTTPFields.Line {
    /// Fields that state the requester's preferences and never prove an identity. All others may be credentials, unknown
    /// ones included.
    private static let harmless: Set = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "dnt", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "pragma", "priority", "range",
        "referer", "sec-gpc", "upgrade-insecure-requests", "user-agent",
    ]

    package var isHarmless: Bool { Self.harmless.contains(name.asciiLowercased) }
}
