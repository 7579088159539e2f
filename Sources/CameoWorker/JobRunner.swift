internal import CameoFetch
internal import CameoModel
internal import CameoRenderer
internal import CameoStore
internal import CameoSystem
internal import Logging

// DESIGN. One attempt, from claim to settlement: fetch → render → complete, as one structured task. `SettlementRules` turns
// whatever comes of it into what is recorded, and `RetryPolicy` alone decides between retry and discard. The settlement is
// written even if the task was cancelled meanwhile: a job must never stay `running` with nobody working on it.

/// Runs one attempt of a job, and records how it ended.
struct JobRunner: Sendable {
    let store: any WorkerStore & ReaderStore
    /// The fetcher for jobs that begin from now on. A running job keeps the fetcher that it began with.
    let fetcher: Live<Fetcher>
    let renderer: RendererPool
    /// Nil if videos are not pictures to this worker.
    var frames: VideoFrames?
    let fetchLimiter: ByteBudget
    let configuration: WorkerConfiguration
    let logger: Logger
    /// Delays a settlement so that it shares a commit with those of other jobs, if there are any.
    let meetOthers: @Sendable () async -> Void
    let phase: WorkerPhase

    /// A fetch that begins this soon after its claim counts as begun with the claim.
    private static let promptness = Duration.milliseconds(50)

    func run(_ control: JobControl) async -> JobOutcome {
        let job = control.job
        let progress = control.progress
        let result: Result<JobProduct, any Error>
        do {
            let product = try await control.run {
                let request = try await request(of: job, progress.clock)
                progress.source = request.source
                progress.retry = request.retry
                control.limit(to: request.timeout.map { .seconds($0) } ?? configuration.jobTimeout)
                return try await make(request, for: job, claimedAt: control.claimedAt, progress)
            }
            result = .success(product)
        } catch {
            result = .failure(error)
        }
        progress.noteClock()
        let settler = Settler(
            store: store,
            configuration: configuration,
            phase: phase,
            logger: logger,
            control: control
        )
        // The final write survives the cancellation of this task: a task of its own is not cancelled with its creator. Swift
        // 6.3 has no cancellation shield.
        let kind = await Task {
            await meetOthers()
            return await settler.settle(result)
        }.value
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

    private func request(of job: ClaimedJob, _ clock: WorkClock) async throws -> ThumbnailRequest {
        guard let bytes = job.uploadedBytes else { return try job.parsedRequest() }
        // An upload can have 100 MiB, and SQLite returns a copy: it counts against the limits of fetches.
        let reservation = try await configuration.budget.reserve(2 * bytes, clock)
        defer { reservation.shrink(to: 0) }
        return try await fetchLimiter.run(clock) { try await store.absorbUpload(job) }
    }

    private func make(
        _ request: ThumbnailRequest,
        for job: ClaimedJob,
        claimedAt: ContinuousClock.Instant,
        _ progress: AttemptProgress
    ) async throws -> JobProduct {
        let identity = try SourceIdentity(of: request.source)
        let ids = try request.thumbnailIDs()
        try checkHost(request)
        var begun = try await begin(job, claimedAt, request)
        begun.asksServer = request.refresh == .always
        let ticket = begun
        if request.refresh == .never, try await store.have(ids, as: nil) { return .kept(ids, nil) }
        let fetched = try await progress.timed(\.fetchMilliseconds) {
            let resolver = SourceResolver(
                store: store,
                fetcher: fetcher.value,
                limiter: fetchLimiter,
                configuration: configuration
            )
            return try await resolver.fetch(request, ticket, progress.clock)
        }
        progress.timings.sourceBytes = fetched.bytes
        progress.arrival = fetched.source.arrival
        try checkHost(request, fetched)
        warn(ofStale: fetched, job)
        if request.refresh != .always, let seen = await seen(fetched, request, ticket),
            try await store.have(ids, as: seen)
        {
            return .kept(ids, seen)
        }
        let picture = try await progress.timedRendering {
            try await render(request, fetched, for: job, progress.clock)
        }
        // Parts of a video are loaded on the way.
        progress.timings.sourceBytes = fetched.bytes
        if let change = fetched.changeSinceOpened() { throw change }
        progress.timings.outputBytes = picture.renditions.reduce(0) { $0 + $1.bytes.count }
        let thumbnails = zip(ids, zip(request.renditions, picture.renditions)).map { id, pair in
            RenderedThumbnail(
                id: id,
                rendition: pair.0,
                encoded: pair.1,
                overlayDigest: fetched.overlayDigest(of: pair.0)
            )
        }
        let provenance = Provenance(
            source: identity,
            sourceDigest: fetched.source.digest,
            sourceSize: fetched.source.bytes,
            sourceSeen: fetched.sourceSeen(ticket),
            rendererVersion: picture.rendererVersion,
            picture: picture.source,
            isTruncated: picture.isTruncated
        )
        return .rendered(thumbnails, provenance)
    }

    private func render(
        _ request: ThumbnailRequest,
        _ fetched: FetchedPictures,
        for job: ClaimedJob,
        _ clock: WorkClock
    ) async throws -> RenderedPicture {
        let (source, name) = (fetched.source, SourceName.of(request.source))
        var wanted = RenderRequest(request.renditions, of: source.file, named: name)
        (wanted.kind, wanted.overlays) = (source.kind, fetched.overlays.map(\.forRenderer))
        wanted.scopes = Self.scopes(of: request)
        // The order of claims holds among the jobs that a worker has, too.
        let due = job.availableAt.milliseconds
        wanted.rank = job.isBackground ? nil : Rank.of(job.claim.jobID, due: due, priority: request.priority)
        return try await renderer.render(wanted, frames: frames, loading: source.parts, clock: clock)
    }

    /// Throws if the host's codecs cannot do what the request asks for, as far as the pictures are known.
    private func checkHost(_ request: ThumbnailRequest, _ fetched: FetchedPictures? = nil) throws(HostUnable) {
        let overlays = fetched?.overlays.map(\.forRenderer).map { ($0.file, $0.kind) } ?? []
        let pictures = fetched.map { [($0.source.file, $0.source.kind)] + overlays } ?? []
        guard let lack = renderer.lack(for: request.renditions, of: pictures) else { return }
        throw HostUnable(lack, for: SourceName.of(request.source))
    }

    /// The claim itself begins the fetch of a job that runs at once. The fetch of a job that had to wait begins now, or it
    /// would look older than it is. So does that of a job made of `cameo:` sources, because the store notes their reading.
    private func begin(
        _ job: ClaimedJob,
        _ claimedAt: ContinuousClock.Instant,
        _ request: ThumbnailRequest
    ) async throws -> FetchTicket {
        let names = ([request.source] + request.overlaySources).compactMap { CameoURI($0) }
        guard names.isEmpty, claimedAt.duration(to: configuration.time.now()) < Self.promptness else {
            return try await store.beginFetch(job.claim, of: request)
        }
        return job.begun
    }

    /// The scopes of the credentials that open the pictures: the request's headers, and user names in URLs.
    private static func scopes(of request: ThumbnailRequest) -> Set<RequestScope> {
        let source = RequestScope(of: request.source, headers: request.headers)
        return Set(
            request.overlaySources.compactMap { RequestScope(of: $0, headers: [:]) } + [source].compactMap(\.self)
        )
    }

    /// Logs every picture that came from the cache although it was no longer fresh.
    private func warn(ofStale fetched: FetchedPictures, _ job: ClaimedJob) {
        for (uri, age, trouble) in fetched.stale {
            let metadata: Logger.Metadata = [
                "job": .stringConvertible(job.claim.jobID), "source": "\(SourceName.of(uri))",
                "age_s": .stringConvertible(age.components.seconds), "reason": "\(trouble)",
            ]
            logger.warning("served from cache", metadata: metadata)
        }
    }

    /// What the fetch saw, for a comparison with existing thumbnails; nil until a renderer has reported its version.
    private func seen(
        _ fetched: FetchedPictures,
        _ request: ThumbnailRequest,
        _ ticket: FetchTicket
    ) async -> Revalidation? {
        let source = fetched.source
        guard let version = await renderer.version(of: source.file, holding: source.kind, frames: frames) else {
            return nil
        }
        return Revalidation(
            sourceDigest: source.digest,
            overlayDigests: request.renditions.map(fetched.overlayDigest(of:)),
            sourceSeen: fetched.sourceSeen(ticket),
            rendererVersion: version
        )
    }
}
