internal import CameoStore
internal import Synchronization

// DESIGN. A session instantiates its protocol by class, with a request and nothing else, so the class must know the
// store. A header that every request of the configuration carries would do, but such headers also go out to strangers'
// HTTP servers. So every client, and every way to read through it, has a class of its own: a generic class whose argument
// spells a number in binary, which the runtime makes on demand. Classes are never unmade, and neither are their clients:
// a session may live as long.

/// An argument that makes a class different from all others.
protocol ProtocolKey {}
enum FirstKey: ProtocolKey {}
enum KeyWithZero<Rest: ProtocolKey>: ProtocolKey {}
enum KeyWithOne<Rest: ProtocolKey>: ProtocolKey {}

/// The protocol of the sessions of one client that read alike.
final class StoreURLProtocol<Key: ProtocolKey>: CameoURLProtocol {
    override static var cameoClient: Client? { ProtocolClasses.subject(of: self)?.client }
    override static var cameoReadThrough: ReadThrough? { ProtocolClasses.subject(of: self)?.readThrough?.rules }
}

/// Which class reads what, for as long as the process lives.
enum ProtocolClasses {
    /// What a class is made for.
    struct Subject {
        let client: Client
        let readThrough: (rules: ReadThrough, settings: TransferSettings)?

        fileprivate func isSame(as other: Self) -> Bool {
            client === other.client && readThrough?.rules == other.readThrough?.rules
                && readThrough?.settings == other.readThrough?.settings
        }
    }

    private struct Entry {
        let subject: Subject
        let type: CameoURLProtocol.Type
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// Also of classes that programs wrote.
        var loaders: [ObjectIdentifier: ReadThroughLoader] = [:]
    }

    private static let state = Mutex(State())

    static func type(for subject: Subject) -> CameoURLProtocol.Type {
        state.withLock { state in
            if let entry = state.entries.values.first(where: { $0.subject.isSame(as: subject) }) { return entry.type }
            let type = Self.make(key(for: state.entries.count))
            state.entries[ObjectIdentifier(type)] = Entry(subject: subject, type: type)
            return type
        }
    }

    static func subject(of type: CameoURLProtocol.Type) -> Subject? {
        state.withLock { $0.entries[ObjectIdentifier(type)]?.subject }
    }

    /// What reads through for a class, with one session for all its loads.
    static func loader(of type: CameoURLProtocol.Type, _ client: Client) -> ReadThroughLoader {
        // Outside of the lock, which the class's own properties take.
        let rules = type.cameoReadThrough ?? ReadThrough()
        let settings = subject(of: type)?.readThrough?.settings ?? TransferSettings(.default)
        return state.withLock { state in
            if let loader = state.loaders[ObjectIdentifier(type)] { return loader }
            let loader = ReadThroughLoader(store: client.store, rules: rules, settings: settings)
            state.loaders[ObjectIdentifier(type)] = loader
            return loader
        }
    }

    /// The client that sessions of this process already have for the store, so that asking again and again by path
    /// opens no more files; else the new one.
    static func shared(_ client: Client) -> Client {
        state.withLock { state in
            let clients = state.entries.values.lazy.map(\.subject.client)
            return clients.first { $0.path == client.path && $0.store.isInPlace } ?? client
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
