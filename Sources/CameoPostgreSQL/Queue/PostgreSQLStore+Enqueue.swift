package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation

extension PostgreSQLStore {
    package func enqueue(_ new: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt] {
        rights.accepts ? try await enqueueAccepted(new) : try await leave(new)
    }

    package func enqueue(
        _ request: ThumbnailRequest,
        data: Data?,
        cacheKey: CacheKey?,
        once key: IdempotencyKey?
    ) async throws -> EnqueueReceipt {
        rights.accepts
            ? try await enqueueAccepted(request, data: data, cacheKey: cacheKey, once: key)
            : try await leave(request, data: data, cacheKey: cacheKey, once: key)
    }
}
