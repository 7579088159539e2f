package import CameoModel
package import CameoStore
internal import Foundation

/// A thumbnail that the store lists but cannot read. A report continues without it, and says so.
package struct UnreadableThumbnail: Error, Sendable, CustomStringConvertible {
    package let job: Int64
    package let thumbnail: RequestedThumbnail
    package let reason: StoreError

    package init(job: Int64, thumbnail: RequestedThumbnail, reason: StoreError) {
        self.job = job
        self.thumbnail = thumbnail
        self.reason = reason
    }

    package var description: String {
        "\(thumbnail.name) of job \(job) (\(thumbnail.uri)) cannot be read: \(reason)"
    }
}

extension BlobStore {
    /// The bytes of a job's thumbnail; nil if it does not exist yet.
    func data(of thumbnail: RequestedThumbnail, for job: Job) async throws(UnreadableThumbnail) -> Data? {
        guard thumbnail.blob != nil else { return nil }
        do throws(StoreError) {
            return try await data(of: thumbnail.uri)
        } catch {
            throw UnreadableThumbnail(job: job.id, thumbnail: thumbnail, reason: error)
        }
    }
}
