internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

/// A job as `take_jobs` and `claim_lane` return it: what its worker has to know.
struct ClaimedTask {
    /// Its place among the jobs that were claimed together, from 1, by rank.
    let place: Int
    let id: Int64
    let due: Int64
    let attempt: Int
    let maxAttempts: Int
    let crashCount: Int
    let tries: Int
    /// The number of the last failed attempt.
    let failed: Int?
    let refresh: Refresh
    let upload: Int64?
    let fetchAfter: Int64
    /// nil if another program has deleted the job's row.
    let request: String?
    let createdAt: Int64?
    /// The number of the fetch that begins with the claim.
    let sourceSeen: Int64

    init(_ row: Row) throws {
        place = try row[0]
        id = try row[1]
        due = try row[2]
        attempt = try row[3]
        maxAttempts = try row[4]
        crashCount = try row[5]
        tries = try row[6]
        failed = try row[7]
        refresh = Refresh(code: try row[8])
        upload = try row[9]
        fetchAfter = try row[10]
        request = try row[11]
        createdAt = try row[12]
        sourceSeen = try row[13]
    }
}
