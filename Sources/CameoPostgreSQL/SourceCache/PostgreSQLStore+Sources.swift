package import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation

extension PostgreSQLStore {
    package func nextSourceSeen() async throws(StoreError) -> Int64 {
        try await commit(.begun) { db in try db.nextSourceSeen() }
    }

    package func cachedSources(_ key: SourceKey) async throws(StoreError) -> [CachedSource] {
        try await read { db in try db.cachedSources(key) }
    }

    package func cachedSource(_ uri: String) async throws(StoreError) -> CachedSource {
        guard let source = try await cachedSources(SourceKey(uri: uri, scope: nil)).first else {
            throw .notFound(uri: CameoURI.source(uri).text)
        }
        return source
    }

    @discardableResult
    package func keep(_ source: CachedSource, data: Data, budget: Int?) async throws(StoreError) -> KeptSource {
        if let budget, !source.isPinned, source.bytes > budget { return .tooLarge }
        let blob = try await prepare(data, digest: source.blob, mediaType: source.mediaType)
        return try await commit(.begun) { db in
            try db.keep(source, blob, budget: budget)
        }
    }

    package func freshen(_ source: CachedSource) async throws(StoreError) -> Bool {
        try await commit(.begun) { db in try db.freshen(source) }
    }

    package func touch(_ source: CachedSource) async throws(StoreError) {
        guard try await read({ db in try db.isUseDue(of: source) }) else { return }
        try await commit(.begun) { db in try db.noteUse(of: source) }
    }

    package func dropCachedSource(_ source: CachedSource) async throws(StoreError) {
        try await commit(.begun) { db in try db.drop(source) }
    }
}
