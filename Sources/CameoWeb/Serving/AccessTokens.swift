internal import CameoModel
internal import HTTPTypes
internal import Hummingbird

/// Who may do what, by the bearer tokens of a file (RFC 6750).
///
/// A line each: a name for the log, scopes with commas between them, and the token, or `sha256-` and the 64 hexadecimal
/// digits of its SHA-256. Empty lines and those that begin with `#` say nothing.
package struct AccessTokens: Sendable {
    package enum Scope: String, CaseIterable, Sendable {
        /// To see jobs, the status and originals.
        case read
        /// To hand in pictures and requests.
        case enqueue
        /// To cancel and retry jobs.
        case operate
    }

    /// What is wrong with the file.
    package struct Malformed: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Token: Sendable {
        let name: String
        let scopes: Set<Scope>
        let digest: BlobDigest
    }

    /// Bytes; what is shorter could be guessed.
    private static let minimumBytes = 16
    private let tokens: [Token]

    /// Everybody may read, and nobody may do anything else.
    package init() { tokens = [] }

    package init(parsing text: String) throws(Malformed) {
        var tokens: [Token] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let name = words.first, !name.hasPrefix("#") else { continue }
            // No message shows a token.
            guard words.count == 3 else {
                throw Malformed(
                    description: "line \(index + 1): must be a name, scopes and a token, with spaces between them"
                )
            }
            var scopes: Set<Scope> = []
            for word in words[1].split(separator: ",", omittingEmptySubsequences: false) {
                guard let scope = Scope(rawValue: String(word)) else {
                    let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
                    throw Malformed(
                        description: "line \(index + 1): there is no scope \"\(word)\" (there are \(known))"
                    )
                }
                scopes.insert(scope)
            }
            tokens.append(Token(name: String(name), scopes: scopes, digest: try Self.digest(words[2], line: index + 1)))
        }
        self.tokens = tokens
    }

    private static func digest(_ word: Substring, line: Int) throws(Malformed) -> BlobDigest {
        if word.hasPrefix("sha256-") {
            guard let digest = BlobDigest(hex: word.dropFirst(7)) else {
                throw Malformed(
                    description: "line \(line): behind sha256- there must be 64 lower-case hexadecimal digits"
                )
            }
            return digest
        }
        guard word.utf8.count >= minimumBytes else {
            throw Malformed(description: "line \(line): a token must have at least \(minimumBytes) bytes")
        }
        return SHA256.digest(of: Array(word.utf8))
    }

    package var isEmpty: Bool { tokens.isEmpty }

    /// The name of the request's token.
    ///
    /// - Throws: 401 or 403. Without any tokens everybody may read.
    @discardableResult
    func demand(_ scope: Scope, of request: Request) throws(Problem) -> String {
        guard !tokens.isEmpty else {
            if scope == .read { return "everybody" }
            throw Problem(.forbidden, "this server takes no writes: it was started without --tokens")
        }
        guard let field = request.headers[.authorization], field.lowercased().hasPrefix("bearer ") else {
            throw Self.unauthorized("a bearer token is needed", challenge: "Bearer")
        }
        guard let token = token(field.dropFirst("bearer ".count)) else {
            throw Self.unauthorized(
                "the token is not one of this server's",
                challenge: "Bearer error=\"invalid_token\""
            )
        }
        guard token.scopes.contains(scope) else {
            throw Problem(.forbidden, "the token of \(token.name) has no scope \(scope.rawValue)")
        }
        return token.name
    }

    /// What the request's token allows, for a page that shows no more than that. Wrong tokens are told as none.
    func access(of request: Request) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for scope in Scope.allCases {
            let isAllowed: Bool
            do throws(Problem) {
                try demand(scope, of: request)
                isAllowed = true
            } catch {
                isAllowed = false
            }
            members[scope.rawValue] = .bool(isAllowed)
        }
        return .object(members)
    }

    /// All are compared to their ends, so that the time tells nothing; and what is compared are digests, of which nobody
    /// can approach one step by step.
    private func token(_ text: Substring) -> Token? {
        let digest = Array(SHA256.digest(of: Array(text.utf8)).hex.utf8)
        var found: Token?
        for token in tokens {
            let difference = zip(token.digest.hex.utf8, digest).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
            if difference == 0 { found = token }
        }
        return found
    }

    private static func unauthorized(_ detail: String, challenge: String) -> Problem {
        var problem = Problem(.unauthorized, detail)
        problem.headers[.wwwAuthenticate] = challenge
        return problem
    }
}
