internal import CameoStore
internal import Foundation
internal import Synchronization

extension URLSessionConfiguration {
    /// A copy of `base` whose sessions also load `cameo:` URLs from this client's store. A process may have configurations for
    /// any number of clients; each client stays open until the process ends.
    ///
    /// - Parameters:
    ///   - client: the client of the store.
    ///   - readThrough: the rules for caching `http:` and `https:` URLs in the store; nil does not cache them. Their headers,
    ///     timeouts, proxies and cookies are taken from the current state of `base`.
    ///   - base: all other settings, but for `URLCache.shared`, which the sessions do not use: without `readThrough`, `http:`
    ///     and `https:` URLs are cached only if `base` has a cache of its own. It is no background configuration: Foundation
    ///     has none on Linux.
    /// - Returns: a configuration that the program may change further.
    public static func cameo(
        _ client: Client,
        readThrough: ReadThrough? = nil,
        basedOn base: URLSessionConfiguration = .default
    ) -> URLSessionConfiguration {
        let configuration = base.copy() as? URLSessionConfiguration ?? base
        let subject = ProtocolClasses.Subject(
            client: client,
            readThrough: readThrough.map { ($0, TransferSettings(base)) }
        )
        configuration.protocolClasses = [ProtocolClasses.type(for: subject)] + (base.protocolClasses ?? [])
        // The store is the cache; a second one in front of it would only get out of step. Foundation also has a thread look
        // into it, on the disk too, before any load, which takes as long as the rest of a load from memory.
        if readThrough != nil || base.urlCache === URLCache.shared { configuration.urlCache = nil }
        return configuration
    }

    /// Like ``cameo(_:readThrough:basedOn:)``, for the store in this folder, which is created if necessary.
    public static func cameo(
        store path: String,
        readThrough: ReadThrough? = nil,
        basedOn base: URLSessionConfiguration = .default
    ) throws(CameoError) -> URLSessionConfiguration {
        cameo(ProtocolClasses.shared(try Client(store: path)), readThrough: readThrough, basedOn: base)
    }
}

extension URLSession {
    /// A session that also loads `cameo:` URLs from this client's store, and optionally reads `http:` and `https:` URLs
    /// through it.
    public static func cameo(_ client: Client, readThrough: ReadThrough? = nil) -> URLSession {
        URLSession(configuration: .cameo(client, readThrough: readThrough))
    }

    /// Like ``cameo(_:readThrough:)``, for the store in this folder, which is created if necessary.
    public static func cameo(store path: String, readThrough: ReadThrough? = nil) throws(CameoError) -> URLSession {
        URLSession(configuration: try .cameo(store: path, readThrough: readThrough))
    }
}

// DESIGN. A session instantiates its protocol by class and passes only a request, so the class must know the store. A header
// in every request of the configuration would work too, but would also be sent to strangers' HTTP servers. So each
// combination of client and rules has its own class: a generic class whose argument spells a number in binary, which the
// runtime creates on demand. Classes are never destroyed, and neither are their clients: a session may live as long.

/// A type argument that makes a class unique.
protocol ProtocolKey {}
enum FirstKey: ProtocolKey {}
enum KeyWithZero<Rest: ProtocolKey>: ProtocolKey {}
enum KeyWithOne<Rest: ProtocolKey>: ProtocolKey {}

/// The protocol class for the sessions of one client with the same rules.
final class StoreURLProtocol<Key: ProtocolKey>: CameoURLProtocol {
    override static var cameoClient: Client? { ProtocolClasses.subject(of: self)?.client }
    override static var cameoReadThrough: ReadThrough? { ProtocolClasses.subject(of: self)?.readThrough?.rules }
}

/// The registry of protocol classes, which lasts as long as the process.
enum ProtocolClasses {
    /// The client and the rules that a class is made for.
    struct Subject {
        let client: Client
        let readThrough: (rules: ReadThrough, settings: TransferSettings)?

        fileprivate func isSame(as other: Self) -> Bool {
            client === other.client && readThrough?.rules == other.readThrough?.rules
                && readThrough?.settings == other.readThrough?.settings
        }
    }

    private struct State {
        var entries: [ObjectIdentifier: (subject: Subject, type: CameoURLProtocol.Type)] = [:]
        /// The loaders, including those of classes that programs define.
        var loaders: [ObjectIdentifier: ReadThroughLoader] = [:]
    }

    private static let state = Mutex(State())

    static func type(for subject: Subject) -> CameoURLProtocol.Type {
        state.withLock { state in
            if let entry = state.entries.values.first(where: { $0.subject.isSame(as: subject) }) { return entry.type }
            let type = Self.make(state.entries.count + 1, FirstKey.self)
            state.entries[ObjectIdentifier(type)] = (subject, type)
            return type
        }
    }

    static func subject(of type: CameoURLProtocol.Type) -> Subject? {
        state.withLock { $0.entries[ObjectIdentifier(type)]?.subject }
    }

    /// The loader of a class, which uses one session for all its loads.
    static func loader(of type: CameoURLProtocol.Type, _ client: Client) -> ReadThroughLoader {
        // Computed outside the lock, which the properties of the class take too.
        let rules = type.cameoReadThrough ?? ReadThrough()
        let settings = subject(of: type)?.readThrough?.settings ?? TransferSettings(.default)
        return state.withLock { state in
            if let loader = state.loaders[ObjectIdentifier(type)] { return loader }
            let loader = ReadThroughLoader(
                store: client.store,
                memory: client.memory,
                rules: rules,
                settings: settings
            )
            state.loaders[ObjectIdentifier(type)] = loader
            return loader
        }
    }

    /// The client that this process already uses for the store, so that repeated calls with the same path open no more files;
    /// otherwise the new one.
    static func shared(_ client: Client) -> Client {
        state.withLock { state in
            let clients = state.entries.values.lazy.map(\.subject.client)
            return clients.first { $0.path == client.path && $0.store.isInPlace } ?? client
        }
    }

    /// The class whose key spells a number, of which `key` spells the lower digits.
    private static func make<Key: ProtocolKey>(_ number: Int, _ key: Key.Type) -> CameoURLProtocol.Type {
        guard number > 1 else { return StoreURLProtocol<Key>.self }
        return number & 1 == 1 ? make(number >> 1, KeyWithOne<Key>.self) : make(number >> 1, KeyWithZero<Key>.self)
    }
}
