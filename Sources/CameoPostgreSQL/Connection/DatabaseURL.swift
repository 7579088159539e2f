package import CameoStore
internal import Foundation

/// A store's name: `postgres://user@host/database?schema=cameo`, with all that libpq knows of such URLs
/// (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING) and the schema of Cameo's tables.
package struct DatabaseURL: Hashable, Sendable {
    package static let schemes: Set<String> = ["postgres", "postgresql"]

    /// What libpq gets, which may contain a password.
    let connection: String
    /// The name that reopens the store, without a password: libpq finds it in its file or the environment.
    package let location: String
    /// An identifier that needs no quotes.
    package let schema: String
    /// Whether a standby will do, where the URL does not say.
    var acceptsStandby = false

    /// - Throws: ``StoreError/cannotOpen(path:reason:)``
    package init(_ text: String) throws(StoreError) {
        let location = Self.withoutPassword(text)
        func refuse(_ reason: String) -> StoreError { .cannotOpen(path: location, reason: reason) }
        guard let colon = text.firstIndex(of: ":"), Self.schemes.contains(text[..<colon].lowercased()),
            text[colon...].hasPrefix("://")
        else { throw refuse("its name must begin with postgres://") }
        guard !text.utf8.contains(0) else { throw refuse("its name has a NUL") }
        let (address, query) = Self.split(text)
        let schemas = query.filter { $0.hasPrefix("schema=") }
        guard schemas.count <= 1 else { throw refuse("its name has more than one schema") }
        schema = schemas.first.map { String($0.dropFirst("schema=".count)) } ?? "cameo"
        guard Self.isSchema(schema) else {
            throw refuse("a schema's name has 1 to 40 of a-z 0-9 _, does not begin with a digit, and is not pg_…")
        }
        connection = Self.joined(address, query.filter { !$0.hasPrefix("schema=") })
        self.location = location
    }

    private static func isSchema(_ name: String) -> Bool {
        (1...40).contains(name.utf8.count) && !name.hasPrefix("pg_") && !(name.utf8.first ?? 0x30).isDigit
            && name.utf8.allSatisfy { $0.isDigit || $0 == 0x5F || (0x61...0x7A).contains($0) }
    }

    private static func split(_ text: String) -> (address: Substring, query: [Substring]) {
        let mark = text.firstIndex(of: "?") ?? text.endIndex
        return (text[..<mark], text[mark...].dropFirst().split(separator: "&"))
    }

    private static func joined(_ address: Substring, _ query: [Substring]) -> String {
        query.isEmpty ? String(address) : "\(address)?\(query.joined(separator: "&"))"
    }

    private static func withoutPassword(_ text: String) -> String {
        var (address, query) = split(text)
        query.removeAll { $0.hasPrefix("password=") || $0.hasPrefix("sslpassword=") }
        guard let start = address.range(of: "://")?.upperBound else { return joined(address, query) }
        let authority = address[start...].prefix { $0 != "/" }
        // The host begins after the last @: one in a password may be unescaped.
        guard let host = authority.lastIndex(of: "@") else { return joined(address, query) }
        let user = authority[..<host].prefix { $0 != ":" }
        return joined("\(address[..<start])\(user)\(address[host...])", query)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
}
