internal import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. A session instantiates its protocol by class and passes only a request, so the class must know the store. A header
// in every request of the configuration would work too, but would also be sent to strangers' HTTP servers. So each
// combination of client and rules has its own class: a generic class whose argument spells a number in binary, which the
// runtime creates on demand. Classes are never destroyed, and neither are their clients: a session may live as long.

/// A type argument that makes a class unique.
protocol ProtocolKey {}
enum FirstKey: ProtocolKey {}
enum KeyWithZero<Rest: ProtocolKey>: ProtocolKey {}
enum KeyWithOne<Rest: ProtocolKey>: ProtocolKey {}

/// The registry of protocol classes, which lasts as long as the process.
enum ProtocolClasses {
    /// The class for the sessions of one client with the same rules.
    final class Member<Key: ProtocolKey>: CameoURLProtocol {
        override static var cameoClient: Client? { subject(of: self)?.client }
        override static var cameoReadThrough: ReadThrough? { subject(of: self)?.readThrough?.rules }
    }

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
        guard number > 1 else { return Member<Key>.self }
        return number & 1 == 1 ? make(number >> 1, KeyWithOne<Key>.self) : make(number >> 1, KeyWithZero<Key>.self)
    }
}
