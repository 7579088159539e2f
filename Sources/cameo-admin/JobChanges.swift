internal import ArgumentParser
internal import CameoStore
internal import CommandSupport

/// Changes every job that there is, and fails at the end if one was not.
func changeJobs(_ ids: [Int64], _ change: (Int64) async throws -> String) async throws {
    var missing = 0
    for id in ids {
        do {
            Output.line(try await change(id))
        } catch StoreError.noSuchJob {
            Output.error("cameo-admin: there is no job \(id)")
            missing += 1
        }
    }
    if missing > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
}
