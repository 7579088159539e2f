package import ArgumentParser
internal import CameoModel
package import CameoStore

extension CompletionKind {
    /// The store's queues.
    package static var queues: CompletionKind {
        ofStore { store in try await store.queues().map(\.name) }
    }

    /// The ids of workers that live.
    package static var workers: CompletionKind {
        ofStore { store in try await store.status().workers.filter(\.isAlive).map(\.id) }
    }

    /// What the store has that the words typed so far mean; nothing where there is none.
    package static func ofStore(
        _ names: @escaping @Sendable (any Store) async throws -> [String]
    ) -> CompletionKind {
        .custom { (words: [String], _: Int, _: String) async -> [String] in
            var options = StoreOptions()
            options.store = TypedWords(words).value(of: "--store")
            guard let store = try? options.openReading() else { return [] }
            return (try? await names(store)) ?? []
        }
    }
}
