internal import CameoModel
internal import CameoStore

// Jobs by what they are, as `cameo-status jobs`, `cameo-admin retry` and `cameo-admin cancel` choose them.
extension Client {
    /// Jobs, the newest first.
    ///
    /// - Parameters:
    ///   - selection: which; by default all.
    ///   - id: only jobs before this one: the last of the page before.
    ///   - limit: at most so many.
    /// - Returns: each as it is now.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for an empty source, a code that there is not, or a limit
    ///   below 1; ``CameoError/storeUnavailable(reason:)``
    public func jobs(
        _ selection: JobSelection = JobSelection(),
        before id: Int64? = nil,
        limit: Int = 50
    ) async throws(CameoError) -> [JobStatus] {
        var filter = try selection.filter(limit: limit)
        filter.before = id
        let jobs = try await asking { [filter] () throws(StoreError) in try await store.jobs(filter) }
        var statuses: [JobStatus] = []
        for job in jobs { statuses.append(try JobStatus(job)) }
        return statuses
    }

    /// Calls many jobs off, the oldest first, as ``cancel(_:)`` does it with one: those that have not ended, unless the
    /// selection names states. In transactions of a hundred, so that nobody waits; when it throws, what was done stays.
    ///
    /// - Parameters:
    ///   - selection: which; it has to say something.
    ///   - limit: at most so many; nil: all.
    ///   - mode: whether they are only counted.
    /// - Returns: how many there were, and how many were changed.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for a selection that says nothing, an empty source, a
    ///   code that there is not, a limit below 1, or a state of jobs that have ended.
    @discardableResult
    public func cancel(
        _ selection: JobSelection,
        limit: Int? = nil,
        _ mode: ChangedJobs.Mode = .forGood
    ) async throws(CameoError) -> ChangedJobs {
        try await change(selection, by: .cancel, limit, mode)
    }

    /// Makes many jobs available at once, the oldest first, as ``retry(_:)`` does it with one: the discarded ones, unless
    /// the selection names states. In transactions of a hundred, so that nobody waits; when it throws, what was done stays.
    ///
    /// - Parameters:
    ///   - selection: which; it has to say something.
    ///   - limit: at most so many; nil: all.
    ///   - mode: whether they are only counted.
    /// - Returns: how many there were, and how many were changed.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for a selection that says nothing, an empty source, a
    ///   code that there is not, a limit below 1, or a state of jobs that wait or run already.
    @discardableResult
    public func retry(
        _ selection: JobSelection,
        limit: Int? = nil,
        _ mode: ChangedJobs.Mode = .forGood
    ) async throws(CameoError) -> ChangedJobs {
        try await change(selection, by: .retry, limit, mode)
    }

    private func change(
        _ selection: JobSelection,
        by change: BulkChange,
        _ limit: Int?,
        _ mode: ChangedJobs.Mode
    ) async throws(CameoError) -> ChangedJobs {
        guard !selection.isEmpty else {
            throw .invalidRequest(field: "selection", reason: "must say which jobs: all of them are seldom meant")
        }
        let chosen = try selection.filter(limit: limit ?? .max)
        let filter: JobFilter
        do throws(BulkChange.Inapplicable) {
            filter = try change.meant(by: chosen)
        } catch {
            let reason = "nothing can be done so to jobs that are \(error.state.rawValue)"
            throw .invalidRequest(field: "states", reason: reason)
        }
        do {
            switch mode {
            case .dryRun: return ChangedJobs(BulkProgress(matched: try await store.count(filter)))
            case .forGood: return ChangedJobs(try await store.change(filter, by: change))
            }
        } catch {
            throw CameoError(erased: error)
        }
    }
}
