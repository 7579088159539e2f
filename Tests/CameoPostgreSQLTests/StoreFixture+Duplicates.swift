import CameoModel
import CameoStore

extension StoreFixture {
    /// Creates a request for the same thumbnails each time, except for the given change.
    func enqueueDuplicate(_ change: (inout ThumbnailRequest) -> Void = { _ in }) async throws -> EnqueueReceipt {
        try await store.enqueue([Self.request(change: change)])[0]
    }
}
