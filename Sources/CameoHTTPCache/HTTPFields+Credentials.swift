extension HTTPFields {
    /// What may go to a server that the requester did not name (RFC 9110, section 15.4).
    package var withoutCredentials: HTTPFields { HTTPFields(lines.filter(\.isHarmless)) }

    /// Whether anything in it may be what opens an answer: `Authorization` is not the only name of a key.
    package var mayHaveCredentials: Bool { !lines.allSatisfy(\.isHarmless) }
}

extension HTTPFields.Line {
    /// Headers that say what the requester likes to get, and of whom nothing. All others, and all that are unknown, may
    /// be credentials.
    private static let harmless: Set = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "dnt", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "pragma", "priority", "range",
        "referer", "sec-gpc", "upgrade-insecure-requests", "user-agent",
    ]

    package var isHarmless: Bool { Self.harmless.contains(name.asciiLowercased) }
}
