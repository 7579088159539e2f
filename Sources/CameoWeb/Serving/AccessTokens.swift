internal import CameoModel
internal import CameoSystem
internal import HTTPTypes
internal import Hummingbird

/// Bearer tokens from a file, and their scopes (RFC 6750).
///
/// Each line has a name for the log, comma-separated scopes, and the token, or `sha256-` and the 64 lower-case
/// hexadecimal digits of its SHA-256. Empty lines and lines that begin with `#` are ignored.
package struct AccessTokens: Sendable {
    package enum Scope: String, CaseIterable, Sendable {
        /// Allows reading jobs, the status, its history and originals.
        case read
        /// Allows submitting pictures and requests.
        case enqueue
        /// Allows cancelling and retrying jobs.
        case operate
    }

    struct Token: Sendable {
        let name: String
        fileprivate let scopes: Set<Scope>
        fileprivate let digest: BlobDigest
    }

    /// The fewest bytes in a token; a shorter one could be guessed.
    private static let minimumBytes = 16
    private let tokens: [Token]

    /// Creates an empty set of tokens: anyone may read, and nobody may do anything else.
    package init() { tokens = [] }

    package init(parsing text: String) throws(SecretFile.Malformed) {
        var tokens: [Token] = []
        for (line, words) in SecretFile.lines(of: text) {
            // No message may contain a token.
            guard words.count == 3 else {
                throw SecretFile.Malformed(line: line, "must be a name, scopes and a token, separated by spaces")
            }
            var scopes: Set<Scope> = []
            for word in words[1].split(separator: ",", omittingEmptySubsequences: false) {
                guard let scope = Scope(rawValue: String(word)) else {
                    let reason = "unknown scope \"\(word)\" (the scopes are \(Scope.allWords))"
                    throw SecretFile.Malformed(line: line, reason)
                }
                scopes.insert(scope)
            }
            tokens.append(Token(name: words[0], scopes: scopes, digest: try Self.digest(words[2], line)))
        }
        self.tokens = tokens
    }

    private static func digest(_ word: String, _ line: Int) throws(SecretFile.Malformed) -> BlobDigest {
        if word.hasPrefix("sha256-") {
            guard let digest = BlobDigest(hex: word.dropFirst(7)) else {
                throw SecretFile.Malformed(line: line, "sha256- must be followed by 64 lower-case hexadecimal digits")
            }
            return digest
        }
        guard word.utf8.count >= minimumBytes else {
            throw SecretFile.Malformed(line: line, "a token must have at least \(minimumBytes) bytes")
        }
        return BlobDigest(of: Array(word.utf8))
    }

    package var isEmpty: Bool { tokens.isEmpty }

    /// Requires a scope of the request's token, and returns the token's name. If there are no tokens, anyone may read.
    ///
    /// - Throws: ``Problem`` with status 401 or 403.
    @discardableResult
    func demand(_ scope: Scope, of request: Request) throws(Problem) -> String {
        guard !tokens.isEmpty else {
            if scope == .read { return "everybody" }
            throw Problem(.forbidden, "this server accepts no writes: it was started without --tokens")
        }
        let token = try token(of: request)
        guard token.scopes.contains(scope) else {
            throw Problem(.forbidden, "the token \"\(token.name)\" lacks the scope \(scope.rawValue)")
        }
        return token.name
    }

    /// The token that the request has in its header, or else in the dashboard's cookie.
    ///
    /// - Throws: ``Problem`` with status 401.
    func token(of request: Request) throws(Problem) -> Token {
        guard let text = text(in: request) else {
            throw Self.unauthorized("a bearer token is required", challenge: "Bearer")
        }
        guard let token = token(text[...]) else {
            throw Self.unauthorized(
                "this server does not know the token",
                challenge: "Bearer error=\"invalid_token\""
            )
        }
        return token
    }

    /// Whether ``demand(_:of:)`` would succeed.
    func allow(_ scope: Scope, to request: Request) -> Bool { (try? demand(scope, of: request)) != nil }

    /// The text of the request's token, known or not.
    func text(in request: Request) -> String? {
        guard let field = request.headers[.authorization] else { return AccessCookie(of: request).token }
        // One space or more (RFC 9110, section 11.4).
        return field.lowercased().hasPrefix("bearer ")
            ? String(field.dropFirst("bearer ".count).drop { $0 == " " }) : nil
    }

    /// The access of whoever has signed out.
    static let nothing = JSONValue.object(.init(uniqueKeysWithValues: Scope.allCases.map { ($0.rawValue, false) }))

    /// The scopes that the request has, so that a page can show only what they allow, and the name of its token. An
    /// unknown token counts as none.
    func access(of request: Request) -> JSONValue {
        var members: [String: JSONValue] = [:]
        if !isEmpty, let token = try? token(of: request) { members["name"] = .string(token.name) }
        for scope in Scope.allCases {
            members[scope.rawValue] = .bool(allow(scope, to: request))
        }
        return .object(members)
    }

    /// Compares all tokens in full, so that the time reveals nothing. It compares digests, which cannot be guessed byte
    /// by byte.
    private func token(_ text: Substring) -> Token? {
        let digest = BlobDigest(of: Array(text.utf8)).hex.utf8
        return tokens.filter { HMACKey.areSame($0.digest.hex.utf8, digest) }.last
    }

    private static func unauthorized(_ detail: String, challenge: String) -> Problem {
        Problem(.unauthorized, detail, headers: [.wwwAuthenticate: challenge])
    }
}

/// A file of secrets: words on each line. Empty lines and lines that begin with `#` are ignored.
package enum SecretFile {
    /// A syntax error; the message has none of the secrets.
    package struct Malformed: Error, CustomStringConvertible {
        package let description: String

        init(line: Int, _ reason: String) { description = "line \(line): \(reason)" }
    }

    /// The words of each line with its number.
    static func lines(of text: String) -> [(number: Int, words: [String])] {
        text.lines.enumerated().compactMap { index, line in
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            return words.isEmpty || words[0].hasPrefix("#") ? nil : (index + 1, words)
        }
    }
}
