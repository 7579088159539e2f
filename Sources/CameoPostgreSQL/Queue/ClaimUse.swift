internal import CameoModel
internal import CameoStore

/// What a write does with a job that its worker has claimed.
enum ClaimUse: Sendable {
    /// The job's task is locked and looked up beforehand.
    case holds(Claim)
    /// The job is completed beforehand, in the round trip of BEGIN, unless its group is run again with savepoints: then it
    /// is held. The write throws if the job must not be completed.
    case completes(Claim, timings: @Sendable () -> AttemptTimings)

    var claim: Claim {
        switch self {
        case .holds(let claim), .completes(let claim, _): claim
        }
    }

    var completes: Bool { if case .completes = self { true } else { false } }

    var completion: Completion? {
        guard case .completes(let claim, let timings) = self else { return nil }
        return Completion(claim: claim, timings: timings())
    }
}
