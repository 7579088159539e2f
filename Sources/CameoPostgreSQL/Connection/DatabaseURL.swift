internal import CPostgreSQL
internal import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. A password may stand in many places of a name, spelled in many ways, and a name that was mistyped may have it where
// a host or port should be. So nothing of a name is shown but what libpq itself has found in it, and of that no secrets.

/// A store's name: `postgres://user@host/database?schema=cameo`, with all that libpq knows of such URLs
/// (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING) and the schema of Cameo's tables.
package struct DatabaseURL: Hashable, Sendable {
    package static let schemes: Set<String> = ["postgres", "postgresql"]

    /// What libpq gets, which may contain a password.
    let connection: String
    /// The name that reopens the store, without a password: libpq finds it in its file or the environment.
    package let location: String
    /// A name of lower-case letters, digits and underscores.
    package let schema: String
    /// The schema as SQL has it: a name like `order` needs the quotes.
    var quoted: String { "\"\(schema)\"" }
    /// Whether a standby will do, where the URL does not say.
    var acceptsStandby = false

    /// - Throws: ``StoreError/cannotOpen(path:reason:)``, which shows nothing of a name that is not one.
    package init(_ text: String) throws(StoreError) {
        func refuse(_ reason: String, at path: String = "postgres://…") -> StoreError {
            .cannotOpen(path: path, reason: reason)
        }
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
            case let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased(),
            Self.schemes.contains(scheme)
        else { throw refuse("its name must begin with postgres://") }
        guard !bytes.contains(0) else { throw refuse("its name has a NUL") }
        // As libpq: an @ before any slash ends the user, and what follows ends at a question mark.
        let rest = bytes[(colon + 3)...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "/") }
        let host = end.map { rest[$0] == UInt8(ascii: "@") ? $0 + 1 : rest.startIndex } ?? rest.startIndex
        let mark = rest[host...].firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        let query = rest[mark...].dropFirst().split(separator: UInt8(ascii: "&"))
            .map { String(decoding: $0, as: UTF8.self) }
        let schemas = query.filter { $0.hasPrefix("schema=") }.map { $0.dropFirst("schema=".count) }
        let others = query.filter { !$0.hasPrefix("schema=") }
        connection =
            "\(scheme)://" + String(decoding: rest[..<mark], as: UTF8.self)
            + (others.isEmpty ? "" : "?" + others.joined(separator: "&"))
        guard !rest[host..<mark].contains(UInt8(ascii: "@")), var parts = Self.parts(of: connection),
            parts["port", default: ""].utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ",") }),
            !parts["host", default: ""].split(separator: ",").contains(where: { $0.dropFirst().contains("@") }),
            !parts["dbname", default: ""].contains("=")
        else {
            throw refuse("libpq cannot read its name; in a password, @ : / ? # & and % are written %40 and so on")
        }
        let server = Self.takeServer(from: &parts)
        let address = (parts.removeValue(forKey: "user").map { Self.encoded($0) + "@" } ?? "") + server
        let database = parts.removeValue(forKey: "dbname").map { "/" + Self.encoded($0) } ?? (server.isEmpty ? "/" : "")
        let shown =
            parts.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.encoded($0.value))" }
            + schemas.prefix(1).filter(Self.isSchema).map { "schema=\($0)" }
        location = "\(scheme)://\(address)\(database)" + (shown.isEmpty ? "" : "?" + shown.joined(separator: "&"))
        guard schemas.count <= 1 else { throw refuse("its name has more than one schema", at: location) }
        schema = schemas.first.map(String.init) ?? "cameo"
        guard Self.isSchema(schema) else {
            throw refuse(
                "a schema's name has 1 to 40 of a-z 0-9 _, does not begin with a digit, and is not pg_…",
                at: location
            )
        }
    }

    private static func isSchema(_ name: some StringProtocol) -> Bool {
        (1...40).contains(name.utf8.count) && !name.hasPrefix("pg_") && !(name.utf8.first ?? 0x30).isDigit
            && name.utf8.allSatisfy { $0.isDigit || $0 == 0x5F || (0x61...0x7A).contains($0) }
    }

    /// What libpq finds in a URL and what is no secret, by its keywords; nil if it cannot read it. Why not would show parts
    /// of the URL.
    private static func parts(of url: String) -> [String: String]? {
        guard let options = PQconninfoParse(url, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var (parts, option) = ([String: String](), options)
        while let keyword = option.pointee.keyword {
            // A value that is not to be displayed has an asterisk there.
            if let value = option.pointee.val, option.pointee.dispchar.pointee != 0x2A {
                parts[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return parts
    }

    /// The hosts and their ports, unless one is a folder of sockets.
    private static func takeServer(from parts: inout [String: String]) -> String {
        guard let host = parts["host"], !host.contains("/"), !host.contains("@") else { return "" }
        let hosts = host.split(separator: ",", omittingEmptySubsequences: false)
        let ports = (parts["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        guard ports.count == hosts.count || ports.count == 1 else { return "" }
        (parts["host"], parts["port"]) = (nil, nil)
        return hosts.enumerated().map { place, host in
            let port = ports.count == 1 ? ports[0] : ports[place]
            return (host.contains(":") ? "[\(host)]" : encoded(String(host))) + (port.isEmpty ? "" : ":\(port)")
        }
        .joined(separator: ",")
    }

    private static func encoded(_ text: String) -> String {
        PercentEncoding.encoded(text.utf8, keeping: Array("/,:".utf8))
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
}
