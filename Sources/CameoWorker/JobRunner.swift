internal import CameoFetch
internal import CameoModel
internal import CameoRenderer
internal import CameoStore
internal import Foundation
internal import Logging

// DESIGN. One attempt, from claim to settlement: fetch → render → complete, as one structured task. Whatever goes wrong
// becomes a JobFailure, and the failure decides between retry and discard in one place (RetryPolicy). The settlement is
// written even if the task was cancelled meanwhile: a job must never stay `running` with nobody working on it.
struct JobRunner: Sendable {
    let store: Store
    let fetcher: Fetcher
    let renderer: RendererPool
    let fetchLimiter: Limiter
    let configuration: WorkerConfiguration
    let logger: Logger
    /// Whether the worker is to end soon: then a store that refuses to be written is not waited for, for ever.
    let isEnding: @Sendable () -> Bool

    /// What a successful attempt leaves to be stored.
    private enum Product: Sendable {
        case rendered([RenderedThumbnail], Provenance)
        /// Thumbnails that exist and need not be made again; nil: whatever they were made of.
        case kept([ThumbnailID], SeenAgain?)
    }

    func run(_ control: JobControl) async -> JobOutcome {
        let job = control.job
        let progress = AttemptProgress()
        let result = await attempt(control, progress)
        let kind = await Self.uncancelled { await settle(job, result, control.stopReason, progress) }
        return JobOutcome(
            jobID: job.claim.jobID,
            source: progress.source,
            queue: job.queue,
            attempt: job.attempt,
            kind: kind,
            timings: progress.timings,
            arrival: progress.arrival
        )
    }

    // MARK: - The attempt

    private func attempt(
        _ control: JobControl,
        _ progress: AttemptProgress
    ) async -> Result<Product, any Error> {
        do {
            let product = try await control.run {
                let request = try await request(of: control.job)
                progress.source = request.source
                progress.retry = request.retry
                let timeout = request.timeout.map { Duration.seconds($0) } ?? configuration.jobTimeout
                return try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await Task.sleep(for: timeout)
                        control.stop(.timedOut)
                    }
                    defer { group.cancelAll() }
                    return try await make(request, for: control.job, progress)
                }
            }
            return .success(product)
        } catch {
            return .failure(error)
        }
    }

    private func request(of job: ClaimedJob) async throws -> ThumbnailRequest {
        // Within the limit of fetches: an upload can have 100 MiB.
        let text =
            job.hasUpload ? try await fetchLimiter.run { try await store.absorbUpload(job.claim) } : job.request
        do {
            return try ThumbnailRequest(parsing: text.utf8)
        } catch {
            throw JobFailure(.requestInvalid, at: .request, "the request is invalid: \(error)")
        }
    }

    private func make(
        _ request: ThumbnailRequest,
        for job: ClaimedJob,
        _ progress: AttemptProgress
    ) async throws -> Product {
        let identity = try SourceIdentity(of: request.source)
        let ids = try request.thumbnailIDs()
        let (ticket, found) = try await fetchLimiter.run {
            let begun = try await store.beginFetch(job.claim, of: request)
            let ticket = FetchTicket(
                number: begun.sourceSeen,
                job: job.claim.jobID,
                newestJob: begun.newestJob,
                isFirstAttempt: begun.isFirstAttempt,
                asksServer: request.refresh == .always
            )
            if request.refresh == .never, try await store.have(ids) { return (ticket, FetchedPictures?.none) }
            let fetched = try await progress.timed(\.fetchMilliseconds) { try await sources.fetch(request, ticket) }
            return (ticket, fetched)
        }
        guard let fetched = found else { return .kept(ids, nil) }
        progress.timings.sourceBytes = fetched.bytes
        progress.arrival = fetched.source.arrival
        warn(ofStale: fetched, job)
        if request.refresh != .always, let seen = seen(fetched, request, ticket), try await store.have(ids, as: seen) {
            return .kept(ids, seen)
        }
        let picture = try await progress.timed(\.renderMilliseconds) {
            try await renderer.render(
                request.renditions,
                of: fetched.source.file,
                holding: fetched.source.kind,
                overlays: fetched.overlays.map(\.forRenderer),
                named: SourceName.of(request.source),
                timeout: nil
            )
        }
        if let change = fetched.changeSinceOpened() { throw change }
        progress.timings.outputBytes = picture.renditions.reduce(0) { $0 + $1.bytes.count }
        return .rendered(
            zip(ids, zip(request.renditions, picture.renditions)).map { id, pair in
                RenderedThumbnail(
                    id: id,
                    rendition: pair.0,
                    encoded: pair.1,
                    overlayDigest: fetched.overlayDigest(of: pair.0)
                )
            },
            Provenance(
                source: identity,
                sourceDigest: fetched.source.digest,
                sourceSeen: fetched.sourceSeen(ticket),
                rendererVersion: picture.rendererVersion,
                picture: picture.source,
                isTruncated: picture.isTruncated
            )
        )
    }

    /// Nobody promised that these are still the pictures that their servers have.
    private func warn(ofStale fetched: FetchedPictures, _ job: ClaimedJob) {
        for (uri, age, trouble) in fetched.stale {
            logger.warning(
                "served from cache",
                metadata: [
                    "job": "\(job.claim.jobID)", "source": "\(SourceName.of(uri))",
                    "age_s": "\(age.components.seconds)", "reason": "\(trouble)",
                ]
            )
        }
    }

    /// Nil while no renderer has said which version it is.
    private func seen(_ fetched: FetchedPictures, _ request: ThumbnailRequest, _ ticket: FetchTicket) -> SeenAgain? {
        renderer.rendererVersion.map { version in
            SeenAgain(
                sourceDigest: fetched.source.digest,
                overlayDigests: request.renditions.map(fetched.overlayDigest(of:)),
                sourceSeen: fetched.sourceSeen(ticket),
                rendererVersion: version
            )
        }
    }

    private var sources: SourceResolver {
        SourceResolver(store: store, fetcher: fetcher, maximumBytes: configuration.maximumSourceBytes)
    }

    // MARK: - The settlement

    private func settle(
        _ job: ClaimedJob,
        _ result: Result<Product, any Error>,
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
    /// end tries a few times, then fails the job by name.
    private func complete(_ job: ClaimedJob, _ product: Product, _ progress: AttemptProgress) async -> JobOutcome.Kind {
        var delay = Duration.milliseconds(200)
        var tries = 0
        while true {
            do throws(StoreError) {
                return try await record(product, of: job, progress)
            } catch {
                tries += 1
                switch error {
                case .leaseLost: return .leaseLost
                case .refused, .notFound: return await fail(job, failure(for: error), progress)
                default: break
                }
                if isEnding(), tries >= 3 { return await fail(job, failure(for: error), progress) }
                if tries.isMultiple(of: 10) {
                    let metadata: Logger.Metadata = ["job": "\(job.claim.jobID)", "reason": "\(error)"]
                    logger.warning("waits for the store to take its result", metadata: metadata)
                }
                await pause(delay)
                delay = isEnding() ? delay : min(delay * 2, .seconds(5))
            }
        }
    }

    private func record(
        _ product: Product,
        of job: ClaimedJob,
        _ progress: AttemptProgress
    ) async throws(StoreError) -> JobOutcome.Kind {
        switch product {
        case .rendered(let thumbnails, let provenance):
            try await store.complete(job.claim, storing: thumbnails, from: provenance, timings: progress.timings)
            return .completed(thumbnails: thumbnails.count)
        case .kept(let thumbnails, let seen):
            try await store.complete(job.claim, keeping: thumbnails, seen: seen, timings: progress.timings)
            return .unchanged(thumbnails: thumbnails.count)
        }
    }

    /// The store failed before there was a result. Only what concerns the job itself is charged to it.
    private func yield(_ job: ClaimedJob, to error: StoreError, _ progress: AttemptProgress) async -> JobOutcome.Kind {
        switch error {
        case .leaseLost: return .leaseLost
        case .full, .busy, .readOnly:
            if isEnding() { return await fail(job, failure(for: error), progress) }
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
        return await record { () throws(StoreError) in
            try await store.fail(job.claim, with: failure, retryAt: retryAt, timings: progress.timings)
        } outcome: {
            delay.map { .retried(failure, after: $0) } ?? .discarded(failure)
        }
    }

    private func release(_ job: ClaimedJob) async -> JobOutcome.Kind {
        await record { () throws(StoreError) in
            try await store.release(job.claim)
        } outcome: {
            .released
        }
    }

    /// Tries until it is written or the claim is lost; when the worker is to end, only as long as its patience lasts.
    private func record(
        _ write: () async throws(StoreError) -> Settlement,
        outcome: () -> JobOutcome.Kind
    ) async -> JobOutcome.Kind {
        let started = ContinuousClock.now
        var delay = Duration.milliseconds(100)
        while true {
            do throws(StoreError) {
                if case .superseded(let twin) = try await write() { return .superseded(by: twin) }
                return outcome()
            } catch {
                if case .leaseLost = error { return .leaseLost }
                if case .refused(let reason) = error { return .unrecorded(reason: reason) }
                if isEnding(), started.duration(to: .now) > configuration.patience {
                    return .unrecorded(reason: error.description)
                }
                await pause(delay)
                delay = min(delay * 2, .seconds(5))
            }
        }
    }

    private func pause(_ duration: Duration) async {
        // Inside `uncancelled` nothing cancels this sleep.
        try? await Task.sleep(for: duration)
    }

    /// A final write must survive the cancellation of the task that makes it. A task of its own is not cancelled with
    /// its creator; Swift 6.3 has no cancellation shield.
    private static func uncancelled<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        await Task { await body() }.value
    }
}
