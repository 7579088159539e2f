internal import CameoStore

// Jobs by what they are, as `cameo-status jobs`, `cameo-admin retry` and `cameo-admin cancel` choose them.
extension Client {
    /// Jobs, the newest first.
    ///
    /// - Parameters:
    ///   - filter: which; by default all.
    ///   - id: only jobs before this one: the last of the page before.
    ///   - limit: at most so many.
    /// - Returns: each as it is now.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for an empty source or a limit below 1;
    ///   ``CameoError/storeUnavailable(reason:)``
    public func jobs(
        _ filter: JobFilter = JobFilter(),
        before id: Int64? = nil,
        limit: Int = 50
    ) async throws(CameoError) -> [Job] {
        var filter = try filter.limited(to: limit)
        filter.before = id
        return try await asking { [filter] () throws(StoreError) in try await store.jobs(filter) }
    }

    /// Calls many jobs off, the oldest first, as ``cancel(_:)`` does it with one: those that have not ended, unless the
    /// filter names states. In transactions of a hundred, so that nobody waits; when it throws, what was done stays.
    ///
    /// - Parameters:
    ///   - filter: which; it has to say something.
    ///   - limit: at most so many; nil: all.
    ///   - mode: whether they are only counted.
    /// - Returns: how many there were, and how many were changed.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for a filter that says nothing, an empty source, a limit below 1, or a state of jobs that have ended.
    @discardableResult
    public func cancel(
        _ filter: JobFilter,
        limit: Int? = nil,
        _ mode: BulkMode = .forGood
    ) async throws(CameoError) -> BulkProgress {
        try await change(filter, by: .cancel, limit, mode)
    }

    /// Makes many jobs available at once, the oldest first, as ``retry(_:)`` does it with one: the discarded ones, unless
    /// the filter names states. In transactions of a hundred, so that nobody waits; when it throws, what was done stays.
    ///
    /// - Parameters:
    ///   - filter: which; it has to say something.
    ///   - limit: at most so many; nil: all.
    ///   - mode: whether they are only counted.
    /// - Returns: how many there were, and how many were changed.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for a filter that says nothing, an empty source, a limit below 1, or a state of jobs that wait or run already.
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
            throw .invalidRequest(field: "filter", reason: "must say which jobs: all of them are seldom meant")
        }
        let chosen = try filter.limited(to: limit ?? .max)
        do {
            let meant = try change.meant(by: chosen)
            switch mode {
            case .dryRun: return BulkProgress(matched: try await store.count(meant))
            case .forGood: return try await store.change(meant, by: change)
            }
        } catch let error as BulkChange.Inapplicable {
            let reason = "nothing can be done so to jobs that are \(error.state.rawValue)"
            throw .invalidRequest(field: "states", reason: reason)
        } catch {
            throw CameoError(erased: error)
        }
    }
}

extension JobFilter {
    fileprivate func limited(to limit: Int) throws(CameoError) -> JobFilter {
        guard limit >= 1 else { throw .invalidRequest(field: "limit", reason: "must be at least 1, not \(limit)") }
        // Every source begins so: all jobs would be meant.
        guard sourcePrefix != "" else { throw .invalidRequest(field: "sourcePrefix", reason: "must not be empty") }
        var filter = self
        filter.limit = limit
        return filter
    }
}
