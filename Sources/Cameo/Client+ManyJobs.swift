internal import CameoStore

// Operations on jobs selected by a filter, like `cameo-status jobs`, `cameo-admin retry` and `cameo-admin cancel`.
extension Client {
    /// Jobs that match a filter, the newest first.
    ///
    /// - Parameters:
    ///   - filter: selects the jobs; the default selects all.
    ///   - id: returns only jobs before this one: the last of the previous page.
    ///   - limit: the maximum number of jobs.
    /// - Returns: the current status of each job.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for an empty source or a limit below 1;
    ///   ``CameoError/storeUnavailable(reason:)``
    public func jobs(
        _ filter: JobFilter = JobFilter(),
        before id: Int64? = nil,
        limit: Int = 50
    ) async throws(CameoError) -> [Job] {
        var filter = try filter.limited(to: limit)
        filter.before = id
        return try await asking { [filter] in try await store.jobs(filter) }
    }

    /// Cancels many jobs, the oldest first, like ``cancel(_:)``: those that have not ended, unless the filter names states.
    /// Each transaction cancels up to a hundred jobs, so other writers need not wait. If it throws, finished transactions
    /// stay in effect.
    ///
    /// - Parameters:
    ///   - filter: selects the jobs; it must not be empty.
    ///   - limit: the maximum number of jobs; nil for all.
    ///   - mode: whether the jobs are only counted.
    /// - Returns: the number of matching jobs and the number of changed jobs.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for an empty filter, an empty source,
    ///   a limit below 1, or a state of jobs that have ended.
    @discardableResult
    public func cancel(
        _ filter: JobFilter,
        limit: Int? = nil,
        _ mode: BulkMode = .forGood
    ) async throws(CameoError) -> BulkProgress {
        try await change(filter, by: .cancel, limit, mode)
    }

    /// Retries many jobs, the oldest first, like ``retry(_:)``: the discarded ones, unless the filter names states. Each
    /// transaction retries up to a hundred jobs, so other writers need not wait. If it throws, finished transactions stay
    /// in effect.
    ///
    /// - Parameters:
    ///   - filter: selects the jobs; it must not be empty.
    ///   - limit: the maximum number of jobs; nil for all.
    ///   - mode: whether the jobs are only counted.
    /// - Returns: the number of matching jobs and the number of changed jobs.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for an empty filter, an empty source,
    ///   a limit below 1, or a state of jobs that are waiting or running.
    @discardableResult
    public func retry(
        _ filter: JobFilter,
        limit: Int? = nil,
        _ mode: BulkMode = .forGood
    ) async throws(CameoError) -> BulkProgress {
        try await change(filter, by: .retry, limit, mode)
    }

    private func change(
        _ filter: JobFilter,
        by change: BulkChange,
        _ limit: Int?,
        _ mode: BulkMode
    ) async throws(CameoError) -> BulkProgress {
        guard filter != JobFilter() else {
            throw .invalidRequest(field: "filter", reason: "must select jobs: an empty filter would select all")
        }
        let chosen = try filter.limited(to: limit ?? .max)
        do {
            let meant = try change.meant(by: chosen)
            switch mode {
            case .dryRun: return BulkProgress(matched: try await store.count(meant))
            case .forGood: return try await store.change(meant, by: change, report: { _ in })
            }
        } catch let error as BulkChange.Inapplicable {
            let reason = "the operation does not apply to jobs that are \(error.state.rawValue)"
            throw .invalidRequest(field: "states", reason: reason)
        } catch {
            throw CameoError(erased: error)
        }
    }
}

extension JobFilter {
    fileprivate func limited(to limit: Int) throws(CameoError) -> JobFilter {
        guard limit >= 1 else { throw .invalidRequest(field: "limit", reason: "must be at least 1, not \(limit)") }
        // Every source begins with the empty prefix, so all jobs would be selected.
        guard sourcePrefix != "" else { throw .invalidRequest(field: "sourcePrefix", reason: "must not be empty") }
        var filter = self
        filter.limit = limit
        return filter
    }
}

/// Whether a bulk operation changes jobs or only counts them.
public enum BulkMode: Sendable {
    /// Changes the jobs.
    case forGood
    /// Counts the jobs without changing any.
    case dryRun
}
