import CameoModel
import CameoStore
import Foundation

extension ClaimedJob {
    /// A job that no store knows.
    static func example(_ id: Int64 = 1, token: String = "token", crashCount: Int = 0) -> ClaimedJob {
        ClaimedJob(
            claim: Claim(jobID: id, token: token),
            request: "{}",
            refresh: .ifChanged,
            queue: "default",
            attempt: 1,
            maxAttempts: 5,
            crashCount: crashCount,
            previousFailure: nil,
            uploadedBytes: nil,
            uploadedSource: nil,
            createdAt: Date(timeIntervalSince1970: 0),
            availableAt: Date(timeIntervalSince1970: 0),
            begun: FetchTicket(sourceSeen: 1, after: 0, isFirstAttempt: true)
        )
    }
}
