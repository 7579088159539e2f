import CameoModel
import CameoSQLite
import CameoStore

extension StoreFixture {
    /// A request for the same thumbnails each time, but for what the change makes of it.
    func enqueueDuplicate(_ change: (inout ThumbnailRequest) -> Void = { _ in }) async throws -> EnqueueReceipt {
        try await store.enqueue([Self.request(change: change)])[0]
    }
}
