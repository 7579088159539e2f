internal import CameoFetch
internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Logging

// How an attempt's result is written down, whatever state the store is in.
extension JobRunner {
    func settle(
        _ job: ClaimedJob,
        _ result: Result<JobProduct, any Error>,
        _ stopReason: JobControl.StopReason?,
        _ progress: AttemptProgress
    ) async -> JobOutcome.Kind {
        switch result {
        case .success(let product): return await complete(job, product, progress)
        case .failure(let failure as JobFailure): return await fail(job, failure, progress)
        case .failure(let error as InvalidRequest):
            let failure = JobFailure(.requestInvalid, at: .request, "the request is invalid: \(error)")
            return await fail(job, failure, progress)
        case .failure(let error):
            switch stopReason {
            case .timedOut: return await fail(job, timeout(of: job, progress), progress)
            case .claimLost: return .leaseLost
            case .shutdown: return await release(job)
            case nil: break
            }
            if let busy = error as? HostBusy { return await postpone(job, for: busy) }
            if let error = error as? StoreError { return await yield(job, to: error, progress) }
            // Nobody stopped it, so this is a cancellation from above: the worker is being torn down.
            if error is CancellationError { return await release(job) }
            let failure = JobFailure(.storeFailed, at: .worker, "unexpected error: \(error)")
            return await fail(job, failure, progress)
        }
    }

    private func timeout(of job: ClaimedJob, _ progress: AttemptProgress) -> JobFailure {
        JobFailure(
            .jobTimedOut,
            at: .worker,
            "the attempt took longer than its time limit (source \(progress.source.map(SourceName.of) ?? "unknown"))"
        )
    }

    /// A store that refuses to take a result is not the job's fault: a service waits until it does. A worker that is to
    /// end tries a few times; then one that was stopped gives the job back, and a drain, which nobody follows, fails it by
    /// name.
    private func complete(_ job: ClaimedJob, _ product: JobProduct, _ progress: AttemptProgress) async
        -> JobOutcome.Kind
    {
        var delay = Duration.milliseconds(200)
        var tries = 0
        while true {
            do throws(StoreError) {
                return try await record(product, of: job, progress)
            } catch {
                tries += 1
                switch error {
                case .leaseLost: return .leaseLost
                // What it was to keep has gone since it was seen: the next attempt finds it missing, and makes it.
                case .notFound where Self.isKept(product): return await release(job)
                case .refused, .notFound: return await fail(job, failure(for: error), progress)
                default: break
                }
                if isEnding, tries >= 3 { return await yield(job, to: error, progress) }
                warn(ofWaiting: job, for: error, tries)
                await pause(delay)
                delay = isEnding ? delay : min(delay * 2, .seconds(5))
            }
        }
    }

    /// At once, and then now and again.
    private func warn(ofWaiting job: ClaimedJob, for error: StoreError, _ tries: Int) {
        guard tries == 1 || tries.isMultiple(of: 10) else { return }
        let metadata: Logger.Metadata = ["job": "\(job.claim.jobID)", "reason": "\(error)"]
        logger.warning("waits for the store to take its result", metadata: metadata)
    }

    private func record(
        _ product: JobProduct,
        of job: ClaimedJob,
        _ progress: AttemptProgress
    ) async throws(StoreError) -> JobOutcome.Kind {
        try await store.complete(job.claim, with: product, timings: progress.timings)
        return switch product {
        case .rendered(let thumbnails, _): .completed(thumbnails: thumbnails.count)
        case .kept(let thumbnails, _): .unchanged(thumbnails: thumbnails.count)
        }
    }

    /// The store failed before there was a result. Only what concerns the job itself is charged to it.
    private func yield(_ job: ClaimedJob, to error: StoreError, _ progress: AttemptProgress) async -> JobOutcome.Kind {
        switch error {
        case .leaseLost: return .leaseLost
        case .full, .busy, .readOnly:
            if phase.isStopping { return await release(job) }
            if configuration.drains { return await fail(job, failure(for: error), progress) }
            await pause(.seconds(1))
            return await release(job)
        default: return await fail(job, failure(for: error), progress)
        }
    }

    private func failure(for error: StoreError) -> JobFailure {
        switch error {
        case .full: JobFailure(.storeFull, at: .store, error.description)
        case .damagedBlob: JobFailure(.sourceNotFound, at: .fetch, error.description)
        case .refused: JobFailure(.storeFailed, at: .store, error.description, isRetryable: false)
        default: JobFailure(.storeFailed, at: .store, error.description)
        }
    }

    private func fail(_ job: ClaimedJob, _ failure: JobFailure, _ progress: AttemptProgress) async -> JobOutcome.Kind {
        let delay = configuration.retryPolicy.adjusted(to: progress.retry).delay(
            afterAttempt: job.attempt,
            of: job.maxAttempts,
            failure: failure,
            previous: job.previousFailure,
            chance: configuration.random()
        )
        let retryAt = delay.map { store.clock.now().addingTimeInterval($0.seconds) }
        return await record(job) { () throws(StoreError) in
            let end = retryAt.map { AttemptEnd.retry(failure, at: $0) } ?? .discard(failure)
            return try await store.settle(job.claim, as: end, timings: progress.timings)
        } outcome: {
            delay.map { .retried(failure, after: $0) } ?? .discarded(failure)
        }
    }

    private func release(_ job: ClaimedJob) async -> JobOutcome.Kind {
        await record(job) { () throws(StoreError) in
            try await store.settle(job.claim, as: .release, timings: AttemptTimings())
        } outcome: {
            .released
        }
    }

    private func postpone(_ job: ClaimedJob, for busy: HostBusy) async -> JobOutcome.Kind {
        let time = store.clock.now().addingTimeInterval(busy.delay.seconds)
        return await record(job) { () throws(StoreError) in
            try await store.settle(job.claim, as: .postpone(until: time), timings: AttemptTimings())
        } outcome: {
            .postponed(busy.delay)
        }
    }

    /// Tries until it is written or the claim is lost; when the worker is to end, only as long as its patience lasts.
    private func record(
        _ job: ClaimedJob,
        _ write: () async throws(StoreError) -> Settlement,
        outcome: () -> JobOutcome.Kind
    ) async -> JobOutcome.Kind {
        let started = ContinuousClock.now
        var delay = Duration.milliseconds(100)
        var tries = 0
        while true {
            do throws(StoreError) {
                if case .superseded(let duplicate) = try await write() { return .superseded(by: duplicate) }
                return outcome()
            } catch {
                if case .leaseLost = error { return .leaseLost }
                if case .refused(let reason) = error { return .unrecorded(reason: reason) }
                if isEnding, started.duration(to: .now) > configuration.patience {
                    return .unrecorded(reason: error.description)
                }
                tries += 1
                warn(ofWaiting: job, for: error, tries)
                await pause(delay)
                delay = min(delay * 2, .seconds(5))
            }
        }
    }

    private static func isKept(_ product: JobProduct) -> Bool { if case .kept = product { true } else { false } }

    private func pause(_ duration: Duration) async {
        // Inside `uncancelled` nothing cancels this sleep.
        try? await Task.sleep(for: duration)
    }
}
