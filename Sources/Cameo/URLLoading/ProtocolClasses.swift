internal import CameoStore
internal import FoundationNetworking
internal import Synchronization

// DESIGN. A session instantiates its protocol by class, with a request and nothing else, so the class must know the
// store. A header that every request of the configuration carries would do, but such headers also go out to strangers'
// HTTP servers. So every client has a class of its own: a generic class whose argument spells a number in binary, which
// the runtime makes on demand. Classes are never unmade, and neither is their client: a session may live as long.

/// An argument that makes a class different from all others.
protocol ProtocolKey {}
enum FirstKey: ProtocolKey {}
enum KeyWithZero<Rest: ProtocolKey>: ProtocolKey {}
enum KeyWithOne<Rest: ProtocolKey>: ProtocolKey {}

/// The protocol of one client's sessions.
final class StoreURLProtocol<Key: ProtocolKey>: CameoURLProtocol {
    override static var cameoClient: Client? { ProtocolClasses.client(of: self) }
}

/// Which class reads from which client, for as long as the process lives.
enum ProtocolClasses {
    private struct Entry {
        let client: Client
        let type: CameoURLProtocol.Type
    }

    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    static func type(for client: Client) -> CameoURLProtocol.Type {
        entries.withLock { entries in
            if let entry = entries.values.first(where: { $0.client === client }) { return entry.type }
            let type = Self.make(key(for: entries.count))
            entries[ObjectIdentifier(type)] = Entry(client: client, type: type)
            return type
        }
    }

    static func client(of type: CameoURLProtocol.Type) -> Client? {
        entries.withLock { $0[ObjectIdentifier(type)]?.client }
    }

    /// The client that sessions of this process already have for the store, so that asking again and again by path
    /// opens no more files; else the new one.
    static func shared(_ client: Client) -> Client {
        entries.withLock { entries in
            entries.values.first { $0.client.path == client.path && $0.client.store.isInPlace }?.client ?? client
        }
    }

    private static func key(for number: Int) -> any ProtocolKey.Type {
        var key: any ProtocolKey.Type = FirstKey.self
        var rest = number + 1
        while rest > 1 {
            key = extend(key, by: rest & 1)
            rest >>= 1
        }
        return key
    }

    private static func extend<Key: ProtocolKey>(_ key: Key.Type, by digit: Int) -> any ProtocolKey.Type {
        digit == 0 ? KeyWithZero<Key>.self : KeyWithOne<Key>.self
    }

    private static func make<Key: ProtocolKey>(_ key: Key.Type) -> CameoURLProtocol.Type {
        StoreURLProtocol<Key>.self
    }
}
