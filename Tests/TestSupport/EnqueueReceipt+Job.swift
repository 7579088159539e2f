package import CameoModel

/// A request that needs no job, where a test expects one.
package struct NoJob: Error {}

extension EnqueueReceipt {
    /// The number of the job that there must be.
    package var jobID: Int64 {
        get throws {
            guard let id else { throw NoJob() }
            return id
        }
    }
}
