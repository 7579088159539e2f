package import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation

extension SQLiteStore {
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
        let blob = try await files.prepare(data, digest: source.blob, mediaType: source.mediaType)
        return try await commit(.begun) { db in try db.keep(source, blob, budget: budget) }
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

    package func evictSources(over budget: Int, atMost limit: Int) async throws(StoreError) -> EvictedSources {
        try await commit { db in try db.evict(over: budget, atMost: limit, sparing: nil) }
    }

    package func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource {
        let forgotten = try await commit { db in try db.forgetSource(uri, extent) }
        try await dropPartials(of: uri)
        return forgotten
    }
}

extension SQLiteTransaction {
    func nextSourceSeen() throws -> Int64 {
        let next: Int64? = try value("UPDATE sequence SET value = value + 1 WHERE name = 'source_seen' RETURNING value")
        guard let next else { throw StoreError.failed("the sequence source_seen is missing") }
        return next
    }

    func add(_ count: Int, toTotal name: String) throws {
        try execute("UPDATE total SET value = value + ?2 WHERE name = ?1", [name, count])
    }

    func settle(_ table: LimitedTable, _ id: Int64) throws {
        switch table {
        case .queue: try Queues.decide(id, self)
        case .key: try Keys.decide(id, self)
        }
    }
}
