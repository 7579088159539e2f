internal import CameoStore

// DESIGN. A worker may hold claims that it does not know of: the answer to a claim was lost, or a standby that took the
// server's place had not received the settlement of a job. Nobody would rescue these jobs, because the worker lives. A
// claim that it has just been given looks the same for a moment, so they are given back only after a while.

/// The claims that the store says a worker holds, and that the worker does not know.
struct StrayClaims {
    /// How long a claim has to be unknown.
    let patience: Duration
    private var since: [Claim: ContinuousClock.Instant] = [:]

    init(patience: Duration) {
        self.patience = patience
    }

    /// Takes note of what the store says.
    ///
    /// - Parameters:
    ///   - claims: all claims that the worker holds, as the store says.
    ///   - known: the tokens that the worker knew before it asked, or knows now.
    ///   - now: the time.
    /// - Returns: the claims to give back.
    mutating func note(
        _ claims: Set<Claim>,
        known: Set<String>,
        at now: ContinuousClock.Instant
    ) -> [Claim] {
        let strays = claims.filter { !known.contains($0.token) }
        since = since.filter { strays.contains($0.key) }
        for claim in strays where since[claim] == nil { since[claim] = now }
        return since.filter { $0.value.duration(to: now) >= patience }.map(\.key).sorted { $0.jobID < $1.jobID }
    }
}
