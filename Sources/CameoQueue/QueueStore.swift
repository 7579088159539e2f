package import CameoHTTPCache
package import CameoModel
package import CameoStore
package import Foundation

// DESIGN. The calls of a store that are a read or a commit of the queue's rules stand here once; an engine implements what
// it does in a way of its own. No module but the engines can name a transaction, because none depends on this one.

/// Whether a write begins new work, which decides if it may run on tables of a newer version.
package enum WritePhase: Sendable {
    /// Begins something, or changes what others began; the writer must know the tables. Wakes workers and waiters.
    case new
    /// Claims jobs: new work, of which only the claiming worker has to know.
    case claim
    /// Continues or ends work begun under this version's tables: a claim, a fetch, a worker. A newer version
    /// understands what older ones write, and its constraints refuse what it cannot accept.
    case begun
}

/// What a write does, by which the engine decides with what others it is committed.
package enum Write: Sendable {
    /// A write of a phase (``WritePhase``). What others recorded is written first, so that the body sees it.
    case new, claim, begun
    /// Enters requests, of which others that wait may be equal. The body must not read history or counts.
    case entering([CheckedRequest])
    /// Does something with a claim that is held. The body must not read history or counts.
    case holding(Claim)
    /// A step of upkeep, which renews the right to it where that has a lease.
    case upkeep(MaintenanceTurn)

    package var phase: WritePhase {
        switch self {
        case .new, .entering, .upkeep: .new
        case .claim: .claim
        case .begun, .holding: .begun
        }
    }
}

/// A store whose engine gives transactions to the queue's rules.
package protocol QueueStore: Store {
    associatedtype Transaction: QueueTransaction

    var readings: Readings { get }
    var acceptances: Acceptances { get }
    var isReadOnly: Bool { get }

    /// Runs a read in a snapshot. Like a commit, it is not cancelled with the calling task.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws(StoreError) -> Value
    /// Runs a read that may take long, so that it holds up no other.
    func readApart<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws(StoreError) -> Value
    /// Commits a write, in one transaction with others that wait.
    func commit<Value: Sendable>(
        _ write: Write,
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws(StoreError) -> Value

    /// Accepts a page of the jobs that other programs have inserted, and returns whether there may be others.
    @discardableResult
    func acceptPage() async throws(StoreError) -> Bool
    /// Accepts a job, if it was not yet: only then it can be changed.
    func accept(through id: Int64) async throws(StoreError)
    /// Gives all changes their numbers, where commits do not.
    func numberChanges() async throws(StoreError)
    /// Makes bytes durable, unless they go into their row.
    func prepare(_ data: Data, digest: BlobDigest, mediaType: String?) async throws(StoreError) -> PreparedBlob
    /// The bytes of a blob that are outside of the database, verified; `inParts` as ``ByteStorage/dataInParts(of:size:)``. What
    /// is missing there is damaged.
    func outsideData(of digest: BlobDigest, size: Int, inParts: Bool) async throws(StoreError) -> Data
    /// The same for a reader that takes them piece by piece, and verifies them.
    func outsideBytes(of digest: BlobDigest, size: Int) async throws(StoreError) -> BlobBytes
    /// Those of the blobs outside of the database whose bytes are not there.
    func missing(_ blobs: Set<SourcePage.Blob>) async throws(StoreError) -> Set<BlobDigest>
    /// Stores thumbnails and completion atomically (invariant I2). `timings` are read inside the transaction.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    func complete(
        _ claim: Claim,
        storing thumbnails: [PreparedThumbnail],
        from provenance: Provenance,
        timings: @escaping @Sendable () -> AttemptTimings
    ) async throws(StoreError)
    /// Completes a job whose thumbnails exist, made from the revalidated bytes (`seen`) or, with nil, from any bytes.
    /// For retention this counts as a use.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``; ``StoreError/notFound(uri:)`` if a thumbnail has been removed. Then
    ///   nothing was written.
    func complete(_ claim: Claim, keeping thumbnails: [ThumbnailID], seen: Revalidation?, timings: AttemptTimings)
        async throws(StoreError)
    /// Removes blobs that nothing has referenced since a time, which is at least an hour ago except in tests, and examines
    /// up to `limit` of them. A step postpones those that it does not remove.
    func collectBlobs(unreferencedSince time: Date, atMost limit: Int) async throws(StoreError) -> CollectedBlobs
    /// Removes what only the engine knows of, such as unfinished files and old partitions.
    func finishPruning(_ steps: inout PruneSteps<Self>, now: Int64) async throws
}

/// The time in milliseconds after its last attempt from which a poison job no longer waits for all other jobs.
private let poisonPatience: Int64 = 60_000

extension QueueStore {
    // MARK: - Reading

    /// For an engine in which one long read does not hold up the others.
    package func readApart<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await read(body)
    }

    package func job(_ id: Int64) async throws(StoreError) -> Job {
        try await read { db in try db.job(id, attempts: try db.attempts(of: id)) }
    }

    package func jobInPlace(of id: Int64) async throws(StoreError) -> Job {
        try await read { db in
            let last = try db.places(of: [id])[id]?.job ?? id
            return try db.job(last, attempts: try db.attempts(of: last))
        }
    }

    package func jobs(_ filter: JobFilter) async throws(StoreError) -> [Job] {
        try await read { db in try db.jobs(try JobSearch(filter: filter).ids(order: .newest, db)) }
    }

    package func count(_ filter: JobFilter) async throws(StoreError) -> Int {
        try await read { db in try JobSearch(filter: filter).ids(order: .newest, db).count }
    }

    package func places(of ids: [Int64]) async throws(StoreError) -> [Int64: JobPlace] {
        try await read { db in try db.places(of: ids) }
    }

    package func status() async throws(StoreError) -> StatusReport {
        // Recent changes are counted by their numbers.
        try await numberChanges()
        return try await read { db in try db.status() }
    }

    package func changes(since cursor: FeedCursor?, limit: Int) async throws(StoreError) -> FeedPage {
        try await numberChanges()
        return try await read { db in try db.feed(after: cursor, limit: limit) }
    }

    package func batches(before cursor: Int64?, limit: Int) async throws(StoreError) -> BatchPage {
        // Counting large batches takes long.
        try await readApart { db in try db.batches(before: cursor, limit: limit) }
    }

    package func batch(_ name: String) async throws(StoreError) -> BatchReport {
        try await read { db in try db.batchReport(name) }
    }

    package func thumbnail(_ id: ThumbnailID) async throws(StoreError) -> Thumbnail {
        try await read { db in
            guard let thumbnail = try db.thumbnail(id) else {
                throw StoreError.notFound(uri: CameoURI.thumbnail(id).text)
            }
            return thumbnail
        }
    }

    package func knownSources(
        _ selection: KnownSourceSelection,
        after cursor: String?,
        limit: Int
    ) async throws(StoreError) -> KnownSourcePage {
        let page = try await read { db in try SourcePage(selection, after: cursor, limit: limit, db) }
        guard selection.verifiesBytes else {
            return page.page(damaged: try await missing(page.blobs.filter(\.isOutside)))
        }
        return page.page(damaged: try await damaged(page.blobs.map(\.digest)))
    }

    package func promise(of id: ThumbnailID) async throws(StoreError) -> Promise? {
        try await read { db in try db.promise(of: id) }
    }

    package func facts(of ids: [ThumbnailID]) async throws(StoreError) -> [ThumbnailFacts] {
        try await read { db in try db.facts(of: ids) }
    }

    package func thumbnails(
        where filter: ThumbnailFilter,
        after cursor: String?,
        limit: Int
    ) async throws(StoreError) -> ThumbnailPage {
        if let prefix = filter.sourcePrefix, prefix.count > ThumbnailFilter.maximumPrefix {
            throw .refused(
                reason: "the beginning of the source has more than \(ThumbnailFilter.maximumPrefix) characters"
            )
        }
        let last = cursor.flatMap { ThumbnailID($0) }
        let lastPicture = cursor.flatMap { PictureCursor($0) }
        if cursor != nil, filter.isOfPictures ? lastPicture == nil : last == nil {
            throw .refused(reason: "the cursor is none that a page gave")
        }
        if filter.isOfPictures {
            return try await read { db in
                let pictures = try db.pictures(where: filter, after: lastPicture, limit: limit)
                let next = pictures.count < limit ? nil : pictures.last?.text
                return ThumbnailPage(thumbnails: try db.facts(of: pictures.map(\.id)), next: next)
            }
        }
        return try await read { db in
            let ids = try db.thumbnails(where: filter, after: last, limit: limit)
            let next = ids.count < limit ? nil : ids.last?.text
            return ThumbnailPage(thumbnails: try db.facts(of: ids), next: next)
        }
    }

    // MARK: - Operating

    package func cancel(_ id: Int64) async throws(StoreError) -> JobState {
        try await accept(through: id)
        return try await commit(.new) { db in try db.cancel(id) }
    }

    package func retry(_ id: Int64) async throws(StoreError) -> (before: JobState, supersededBy: Int64?) {
        try await accept(through: id)
        return try await commit(.new) { db in try db.retry(id) }
    }

    package func snooze(_ id: Int64, until time: Date) async throws(StoreError) -> JobState {
        try await accept(through: id)
        return try await commit(.new) { db in try db.snooze(id, until: time) }
    }

    // DESIGN. Changing thousands of jobs in one transaction would hold up every worker's settlements meanwhile. Therefore a
    // reader finds the jobs one page at a time, upwards by id, and each page is changed in its own transaction, which
    // checks again that each job is still in a selected state. Ids beyond the newest one at the start are left alone, so
    // that no job is changed twice.
    package func change(
        _ filter: JobFilter,
        by change: BulkChange,
        report: (BulkProgress) throws -> Void
    ) async throws -> BulkProgress {
        let newest = try await read { db in try db.value("SELECT max(id) FROM job") ?? Int64(0) }
        try await accept(through: newest)
        var progress = BulkProgress(matched: try await count(filter))
        var last: Int64 = 0
        while progress.changed < filter.limit {
            var page = filter
            page.limit = min(500, filter.limit - progress.changed)
            page.before = min(filter.before ?? .max, newest + 1)
            let search = JobSearch(filter: page, after: last)
            let ids = try await read { db in try search.ids(order: .oldest, db) }
            guard let end = ids.last else { break }
            last = end
            let changed = try await commit(.new) { db in try db.change(ids, in: filter.states, by: change) }
            progress.changed += changed
            progress.passed += ids.count - changed
            try report(progress)
        }
        return progress
    }

    // MARK: - Working

    /// Accepts all jobs that other programs have inserted.
    package func acceptAll() async throws(StoreError) { while try await acceptPage() {} }

    /// Accepts some of them, unless others have just done that.
    package func acceptBesideWork() async throws(StoreError) {
        if !acceptances.isResting { try await acceptPage() }
    }

    package func takeRefused() -> [LostJob] { acceptances.takeRefused() }

    @discardableResult
    package func settle(_ claim: Claim, as end: AttemptEnd, timings: AttemptTimings) async throws(StoreError) -> End? {
        switch end {
        case .complete(.kept(let thumbnails, let seen)):
            try await complete(claim, keeping: thumbnails, seen: seen, timings: timings)
            return nil
        case .complete(.rendered(let thumbnails, let provenance)):
            let started = ContinuousClock.now
            var prepared: [PreparedThumbnail] = []
            for thumbnail in thumbnails {
                let (bytes, type) = (thumbnail.encoded.bytes, thumbnail.encoded.format.mediaType)
                let blob = try await prepare(bytes, digest: BlobDigest(of: bytes), mediaType: type)
                prepared.append((thumbnail, blob))
            }
            try await complete(claim, storing: prepared, from: provenance) {
                var measured = timings
                measured.storeMilliseconds = started.duration(to: .now).milliseconds
                return measured
            }
            return nil
        case .retry(let failure, let time):
            return try await commit(.holding(claim)) { db in try db.retry(db.take(claim), failure, at: time, timings) }
        case .discard(let failure):
            try await commit(.holding(claim)) { db in try db.discard(db.take(claim), failure, timings) }
            return nil
        case .release:
            return try await commit(.holding(claim)) { db in
                let task = try db.take(claim)
                db.settleCharge(of: task, timings)
                return try db.release(task, as: .released)
            }
        case .postpone(let time):
            return try await commit(.holding(claim)) { db in
                let task = try db.take(claim)
                db.settleCharge(of: task, timings)
                return try db.postpone(task, until: time)
            }
        case .leave(let unable, let time):
            return try await commit(.holding(claim)) { db in
                try db.leave(db.take(claim), unable, until: time, timings)
            }
        }
    }

    package func have(_ thumbnails: [ThumbnailID], as seen: Revalidation?) async throws(StoreError) -> Bool {
        let blobs = try await read { db in
            if let seen { return try db.blobs(of: thumbnails, as: seen) }
            let found = try db.thumbnails(thumbnails)
            return thumbnails.compactMap { found[$0]?.blob }
        }
        guard blobs.count == thumbnails.count else { return false }
        return try await damaged(Set(blobs)).isEmpty
    }

    package func hasOverduePoisonJob(queues: [String]?, background: BackgroundJobs) async throws(StoreError) -> Bool {
        try await read { db in
            try db.poisonJob(among: queues, background, attemptedBefore: db.now - poisonPatience) != nil
        }
    }

    package func beginFetch(_ claim: Claim, of request: ThumbnailRequest) async throws(StoreError) -> FetchTicket {
        let ingredients = ([request.source] + request.overlaySources).compactMap { text -> ThumbnailID? in
            if case .thumbnail(let id) = CameoURI(text) { id } else { nil }
        }
        return try await commit(.holding(claim)) { db in
            let task = try db.task(of: claim)
            try db.noteUse(of: ingredients)
            return FetchTicket(
                sourceSeen: try db.nextSourceSeen(),
                after: task.fetchAfter,
                isFirstAttempt: task.tries == 1
            )
        }
    }

    package func absorbUpload(_ job: ClaimedJob) async throws -> ThumbnailRequest {
        let claim = job.claim
        guard let upload = try await read({ db in try db.unreadUpload(of: claim.jobID) }) else {
            throw StoreError.notFound(uri: "the upload of job \(claim.jobID)")
        }
        let read = try await ReadUpload(upload, try job.parsedRequest(), self)
        try await commit(.holding(claim)) { db in try db.update(try db.absorb(read, into: db.task(of: claim))) }
        return read.new.request
    }

    package func readUploads() async throws(StoreError) {
        if try await read({ db in try db.hasArrivals() }) { try await acceptBesideWork() }
        let waiting: [Int64] = try await read { db in try db.jobsOfUnreadUploads() }
        for job in waiting where !Task.isCancelled {
            let found = try await read { db in
                try db.unreadUpload(of: job).map { upload in
                    let look = "SELECT \(db.dialect.requestBytes) AS request FROM job WHERE id = ?1"
                    return (upload, try db.value(look, [job]) ?? Data())
                }
            }
            // A worker that claims it says what is wrong with it.
            guard let (upload, request) = found, let request = try? ThumbnailRequest(accepted: request) else {
                continue
            }
            let read: ReadUpload
            do { read = try await ReadUpload(upload, request, self) } catch {
                guard let error = error as? StoreError else { continue }
                throw error
            }
            try await commit(.new) { db in
                guard let task = try db.task(job), task.state != .running, try db.unreadUpload(of: job) != nil else {
                    return
                }
                let known = try db.absorb(read, into: task)
                if let other = try db.waitingJob(for: known.uniqueKey), other.id != job {
                    try db.letWait(known, from: task.state)
                } else {
                    try db.update(known)
                }
            }
        }
    }

    // MARK: - Requests

    /// Enqueues as a program that accepts its requests itself.
    package func enqueueAccepted(_ new: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt] {
        let made = try await madeThumbnails(of: new)
        return try await commit(.entering(new)) { db in try db.enter(new, made) }
    }

    package func enqueueAccepted(
        _ request: ThumbnailRequest,
        data: Data?,
        cacheKey: CacheKey?,
        once key: IdempotencyKey?
    ) async throws -> EnqueueReceipt {
        let upload = try UploadedPicture(request, data, cacheKey)
        let new = upload.request
        let first = key.map { FirstReceipt($0, of: new, data: upload.digest) }
        // Before the bytes are written.
        if let first, let known = try await read({ db in try first.known(db) }) { return try known.get() }
        var prepared: PreparedBlob?
        if let data, let digest = upload.digest {
            prepared = try await prepare(data, digest: digest, mediaType: nil)
        }
        let (blob, made) = (prepared, try await madeThumbnails(of: [new]))
        return try await commit(.entering([new])) { db -> Result<EnqueueReceipt, InvalidRequest> in
            if let first {
                try db.lock(first)
                if let known = try first.known(db) { return known }
            }
            if let blob { try db.hold(blob, under: cacheKey) }
            guard let receipt = try db.enter([new], made).first else { throw StoreError.failed("no receipt") }
            if let blob, receipt.outcome != .accepted { try db.noteOrphan(blob.digest) }
            try first?.note(receipt, db)
            return .success(receipt)
        }.get()
    }

    /// Looks, before the transaction because it reads bytes, which requests existing thumbnails may answer. Accepts some of
    /// what other programs have inserted before, but does not wait for a backlog of theirs.
    private func madeThumbnails(of new: [CheckedRequest]) async throws(StoreError) -> MadeThumbnails {
        let (found, hasArrivals) = try await read { db in (try db.answerable(new), try db.hasArrivals()) }
        if hasArrivals { try await acceptBesideWork() }
        return MadeThumbnails(
            answered: Set(found.map(\.index)),
            damaged: try await damaged(Set(found.flatMap(\.blobs)))
        )
    }

    // MARK: - Sources and blobs

    package func nextSourceSeen() async throws(StoreError) -> Int64 {
        try await commit(.begun) { db in try db.nextSourceSeen() }
    }

    package func cachedSource(_ uri: String) async throws(StoreError) -> CachedSource {
        let key = SourceKey(uri: uri, scope: nil)
        guard let source = try await read({ db in try db.sources(db.dialect.knownSource, key).first }) else {
            throw .notFound(uri: CameoURI.source(uri).text)
        }
        return source
    }

    @discardableResult
    package func keep(_ source: CachedSource, data: Data, budget: Int?) async throws(StoreError) -> KeptSource {
        if let budget, !source.isPinned, source.bytes > budget { return .tooLarge }
        let blob = try await prepare(data, digest: source.blob, mediaType: source.mediaType)
        return try await commit(.begun) { db in try db.keep(source, blob, budget: budget) }
    }

    package func evictSources(over budget: Int, atMost limit: Int) async throws(StoreError) -> Bool {
        try await commit(.new) { db in try db.evict(over: budget, atMost: limit, sparing: nil) }
    }

    package func store(_ data: Data, mediaType: String?) async throws(StoreError) -> BlobDigest {
        let digest = BlobDigest(of: data)
        guard !isReadOnly else { throw .readOnly(path: location) }
        let blob = try await prepare(data, digest: digest, mediaType: mediaType)
        try await commit(.new) { db in
            try blob.insert(db)
            // A pinned blob needs no reference. An earlier upload of the same bytes may have given no media type.
            try db.execute(
                "UPDATE blob SET pinned = ?3, media_type = coalesce(media_type, ?1) WHERE digest = ?2",
                [mediaType, digest.hex, true]
            )
        }
        return digest
    }

    package func mediaType(of digest: BlobDigest) async throws(StoreError) -> String? {
        try await read { db in
            guard let row = try db.row("SELECT media_type FROM blob WHERE digest = ?1 AND \(isShown)", [digest.hex])
            else {
                throw StoreError.notFound(uri: CameoURI.blob(digest).text)
            }
            return try row[0]
        }
    }

    package func size(of uri: CameoURI) async throws(StoreError) -> Int {
        let digest = try await digest(of: uri)
        return try await read { db in
            guard let size: Int = try db.value("SELECT size FROM blob WHERE digest = ?1 AND \(isShown)", [digest.hex])
            else {
                throw StoreError.notFound(uri: uri.text)
            }
            return size
        }
    }

    package func data(of uri: CameoURI) async throws(StoreError) -> Data {
        try await data(of: try await digest(of: uri))
    }

    private func digest(of uri: CameoURI) async throws(StoreError) -> BlobDigest {
        switch uri {
        case .blob(let digest): digest
        case .thumbnail(let id): try await thumbnail(id).blob
        case .source(let source): try await cachedSource(source).blob
        }
    }

    package func data(of digest: BlobDigest) async throws(StoreError) -> Data {
        try await data(of: digest, inParts: false)
    }

    private func data(of digest: BlobDigest, inParts: Bool) async throws(StoreError) -> Data {
        let (data, size) = try await row(of: digest)
        return if let data { data } else { try await outsideData(of: digest, size: size, inParts: inParts) }
    }

    package func bytes(of digest: BlobDigest) async throws(StoreError) -> BlobBytes {
        let (data, size) = try await row(of: digest)
        return if let data { .inMemory(data) } else { try await outsideBytes(of: digest, size: size) }
    }

    /// The size of a blob, and its bytes, verified, if they are in its row.
    private func row(of digest: BlobDigest) async throws(StoreError) -> (data: Data?, size: Int) {
        let row: (data: Data?, size: Int) = try await read { db in
            guard let row = try db.row("SELECT data, size FROM blob WHERE digest = ?1 AND \(isShown)", [digest.hex])
            else {
                throw StoreError.notFound(uri: CameoURI.blob(digest).text)
            }
            return (try row["data"], try row["size"])
        }
        if let data = row.data, BlobDigest(of: data) != digest {
            throw .damagedBlob(digest: digest.description)
        }
        return row
    }

    /// Those of the blobs whose bytes do not exist or do not match their digest. What cannot be read is as good as lost: it is
    /// made again.
    package func damaged(_ digests: some Sequence<BlobDigest>) async throws(StoreError) -> Set<BlobDigest> {
        var damaged: Set<BlobDigest> = []
        for digest in digests {
            do throws(StoreError) {
                if try await !isWhole(digest) { damaged.insert(digest) }
            } catch {
                guard case .unreadableBlob = error else { throw error }
                damaged.insert(digest)
            }
        }
        return damaged
    }

    /// Whether a blob's bytes exist and match its digest; also true for a blob collected since it was listed.
    package func isWhole(_ digest: BlobDigest, inParts: Bool = false) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            _ = try await data(of: digest, inParts: inParts)
            return true
        } catch {
            switch error {
            case .damagedBlob: return false
            case .notFound: return true
            default: throw error
            }
        }
    }
}

/// A request with the bytes of its picture, if it has some.
package struct UploadedPicture: Sendable {
    package let request: CheckedRequest
    package let digest: BlobDigest?

    /// - Throws: `InvalidRequest`, also for too many bytes.
    package init(_ request: ThumbnailRequest, _ data: Data?, _ cacheKey: CacheKey?) throws(InvalidRequest) {
        var request = request
        if let data {
            guard (1...StoreLimits.uploadBytes).contains(data.count) else {
                let reason = "an uploaded picture must have 1 to \(StoreLimits.uploadBytes) bytes, not \(data.count)"
                throw InvalidRequest(path: "data", reason: reason)
            }
            let digest = BlobDigest(of: data)
            request.source = cacheKey?.uri ?? CameoURI.blob(digest).text
            self.digest = digest
        } else {
            digest = nil
        }
        self.request = try CheckedRequest(request)
    }
}
