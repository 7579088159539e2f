package import ArgumentParser
internal import CameoModel
package import CameoStore

extension CompletionKind {
    package static var queues: CompletionKind {
        ofStore { store in try await store.queues().map(\.name) }
    }

    /// Completes the ids of living workers.
    package static var workers: CompletionKind {
        ofStore { store in try await store.status().workers.filter(\.isAlive).map(\.id) }
    }

    /// Completes names from the store that the words typed so far select; nothing if there is no such store.
    package static func ofStore(
        _ names: @escaping @Sendable (any Store) async throws -> [String]
    ) -> CompletionKind {
        .custom { (words: [String], _: Int, _: String) async -> [String] in
            var options = StoreOptions()
            options.store = TypedWords(words).value(of: "--store")
            options.blobs = TypedWords(words).value(of: "--blobs")
            guard let store = try? options.openReading() else { return [] }
            return (try? await names(store)) ?? []
        }
    }
}
