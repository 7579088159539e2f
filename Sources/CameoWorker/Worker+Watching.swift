internal import CameoHooks
internal import CameoModel
internal import CameoRenderer
internal import CameoStore
internal import Foundation
internal import Logging

// What a worker learns from the store beside its jobs: commits, times, lost claims, lost workers, and requests to stop.
extension Worker {
    /// Wakes the loop when another process may have left something to do. A full worker needs no such call: its own jobs wake it.
    func listen() async {
        for await _ in store.wakeUpsOfWork(pause: { self.pace.rest }) {
            hooks?.wake()
            if running.count < configuration.concurrency { wake.yield() }
        }
    }

    /// Stops jobs at their time limits and at the end of the grace, and notices when the process stood still. Not a part of ``watch()``, which may
    /// wait for the store.
    func enforceTimeLimits() async {
        repeat {
            phase.look()
            running.stopOverdue()
            if phase.mustGiveBack { running.stopAll(.shutdown) }
        } while (try? await configuration.time.sleep(configuration.sweepInterval)) != nil
    }

    /// Reads pictures that came by SQL, so that their thumbnails are known before they are made. Not a part of ``watch()``, which
    /// extends the lease: large ones take long.
    func readAhead() async {
        var pause = configuration.sweepInterval
        while (try? await configuration.time.sleep(pause)) != nil {
            pause = configuration.sweepInterval
            guard phase.hasUploads else { continue }
            do {
                try await store.readUploads()
            } catch {
                // The claim of such a job has the same trouble, and reports it.
                pause = configuration.sweepInterval * 40
            }
        }
    }

    /// Looks for sealed batches that have ended; where many are open, so that it takes long, less often.
    func endBatches() async {
        let time = configuration.time
        var pause = configuration.sweepInterval
        while (try? await time.sleep(pause)) != nil {
            let begun = time.now()
            do {
                try await store.endSealedBatches()
                pause = max(configuration.sweepInterval, begun.duration(to: time.now()) * 10)
            } catch {
                // What sweeps do has the same trouble with the store, and reports it.
                logger.debug("cannot end batches", metadata: ["reason": "\(error)"])
                pause = configuration.sweepInterval * 40
            }
        }
    }

    func watch() async {
        let time = configuration.time
        let leaseInterval = configuration.leaseInterval ?? store.lease / 3
        var sweeps = 0
        var strays = StrayClaims(patience: leaseInterval * 3)
        var nextSweep = time.now()
        var nextLease = nextSweep + leaseInterval
        while !Task.isCancelled {
            var pause = configuration.sweepInterval
            // First and by itself: whatever else fails, the jobs stay this worker's.
            if time.now() >= nextLease {
                do throws(StoreError) {
                    try await extendLease()
                    nextLease = time.now() + leaseInterval
                } catch {
                    note(error)
                }
            }
            do {
                if time.now() >= nextSweep {
                    nextSweep = time.now() + configuration.sweepInterval
                    hooks?.wake()
                    if sweeps.isMultiple(of: Self.sweepsPerLook) {
                        // A worker without jobs claims poison jobs anyway.
                        if running.count > 0 {
                            phase.hasOverduePoisonJob = try await store.hasOverduePoisonJob(
                                queues: configuration.queues,
                                background: backgroundJobs
                            )
                        }
                        // Some systems report no commits of other processes, such as a kernel that has run out of watches.
                        wake.yield()
                    }
                    sweeps += 1
                }
                if let due = try await sweep(&strays) {
                    let seconds = max(0, due.timeIntervalSince(store.clock.now()))
                    if seconds == 0 { wake.yield() } else { pause = min(pause, .seconds(seconds)) }
                }
            } catch {
                note(error)
            }
            guard (try? await time.sleep(pause)) != nil else { return }
        }
    }

    private func note(_ error: any Error) {
        if !store.isInPlace { phase.lostStore = error as? StoreError }
        let message = "cannot use the store"
        let (_, isNews) = phase.storeRefused("\(error)", message)
        if isNews { logger.warning("\(message)", metadata: ["reason": "\(error)"]) }
        wake.yield()
    }

    private func extendLease() async throws(StoreError) {
        let counted = tally.take(renderer.statistics)
        let trouble = phase.trouble(at: store.clock.now())
        if phase.isNews(trouble), let trouble, trouble.blocksJobs != false {
            logger.warning("waits for the store", metadata: ["reason": "\(trouble.reason)"])
        }
        do throws(StoreError) {
            let progress = WorkerProgress(transfers: running.transfers, trouble: trouble)
            try await store.extendLease(of: id, adding: counted, progress)
        } catch {
            tally.putBack(counted)
            throw error
        }
    }

    /// The number of sweeps after which a worker looks for jobs although nothing has woken it.
    private static let sweepsPerLook = 4

    /// Asks the store for what concerns this worker, and acts on it.
    ///
    /// - Returns: when the next job comes due; nil if none waits for its time.
    private func sweep(_ strays: inout StrayClaims) async throws -> Date? {
        let held = running.tokens
        let sweep = try await store.sweep(for: id)
        if !store.isInPlace {
            phase.lostStore = .missing(path: store.location)
            wake.yield()
        }
        // First, because a worker that an operator has stopped ends without an error, even if the store is a newer
        // version's by now.
        if let request = sweep.stop { stop(request) }
        if let reason = sweep.refusal {
            retire(reason)
        } else if sweep.hasLostWorkers {
            try await rescue()
        }
        running.stop(held, notIn: sweep.tokens)
        phase.hasUploads = sweep.hasUploads && sweep.refusal == nil
        // A drain leaves to the next worker what could not be recorded: it would do it again and again.
        guard !configuration.drains || phase.unrecorded == nil else { return sweep.due }
        for claim in strays.note(sweep.claims, known: held.union(running.tokens), at: configuration.time.now()) {
            try await giveBack(claim)
        }
        return sweep.due
    }

    private func giveBack(_ stray: Claim) async throws(StoreError) {
        do throws(StoreError) {
            _ = try await store.settle(stray, as: .release, timings: AttemptTimings())
            logger.warning("gave back a job that this worker does not run", metadata: ["job": "\(stray.jobID)"])
        } catch {
            // Somebody else has taken it meanwhile.
            guard case .leaseLost = error else { throw error }
        }
    }

    func rescue() async throws {
        let report = try await store.rescueExpired(except: id)
        guard !report.workers.isEmpty else { return }
        let metadata: Logger.Metadata = [
            "workers": "\(report.workers.joined(separator: " "))", "jobs": .stringConvertible(report.rescued),
            "discarded": .stringConvertible(report.discarded.count),
        ]
        logger.warning("took back the jobs of lost workers", metadata: metadata)
        for job in report.discarded { self.report(JobOutcome(lost: job)) }
        wake.yield()
    }
}

// DESIGN. A worker may hold claims that it does not know of: the answer to a claim was lost, or a standby that took the
// server's place had not received the settlement of a job. Nobody would rescue these jobs, because the worker lives. A
// claim that it has just been given looks the same for a moment, so they are given back only after a while.

/// The claims that the store says a worker holds, and that the worker does not know.
struct StrayClaims {
    /// How long a claim has to be unknown.
    let patience: Duration
    private(set) var since: [Claim: ContinuousClock.Instant] = [:]

    /// Takes note of all claims that the worker holds, as the store says, and returns those to give back. `known` are the
    /// tokens that the worker knew before it asked, or knows now.
    mutating func note(_ claims: Set<Claim>, known: Set<String>, at now: ContinuousClock.Instant) -> [Claim] {
        let strays = claims.filter { !known.contains($0.token) }
        since = since.filter { strays.contains($0.key) }
        for claim in strays where since[claim] == nil { since[claim] = now }
        return since.filter { $0.value.duration(to: now) >= patience }.map(\.key).sorted { $0.jobID < $1.jobID }
    }
}

extension Worker {
    /// The pause between two transactions that remove something, in which other processes can write.
    private static let pruningPause = Duration.milliseconds(20)

    /// The maximum number of originals that one transaction evicts.
    private static let evictionStep = 16

    /// Periodically removes what retention and the cache's budget no longer keep, unless another process is doing so.
    /// Returns only when its task is cancelled.
    func maintain() async {
        var known: String?
        while !Task.isCancelled {
            let caution = await cautionAboutBytes()
            if Task.isCancelled { return }
            if let caution, caution != known { logger.warning("\(caution)") }
            known = caution
            do {
                let isDone: Void? = try await store.maintaining(within: .zero) { turn in
                    try await evictOriginals()
                    try await prune(in: turn)
                }
                if isDone != nil { phase.removalSucceeded() }
            } catch is CancellationError {
                return
            } catch {
                let isPutOff = if case StoreError.unremoved = error { true } else { false }
                phase.removalFailed("\(error)", for: configuration.maintenanceInterval * 3, isPutOff: isPutOff)
                logger.warning("cannot prune the store", metadata: ["reason": "\(error)"])
            }
            guard (try? await configuration.time.sleep(configuration.maintenanceInterval)) != nil else { return }
        }
    }

    /// What an operator should know about the place of large bytes: it is another store's, or cannot be read.
    private func cautionAboutBytes() async -> String? {
        do throws(StoreError) {
            return try await store.othersBytes()?.description
        } catch {
            return "cannot read where the store keeps large blobs: \(error)"
        }
    }

    private func prune(in turn: MaintenanceTurn) async throws {
        var pruned = Pruned()
        // Even if the worker is told to end meanwhile, what was removed until then is logged.
        defer { if !pruned.isEmpty { log(pruned) } }
        _ = try await store.prune(configuration.retention, in: turn, pause: Self.pruningPause) { pruned += $0 }
    }

    /// Shrinks the cache to its budget after the budget was lowered. At all other times, storing an answer makes room for it.
    private func evictOriginals() async throws {
        guard let budget = configuration.cacheBudget else { return }
        while try await !store.evictSources(over: budget, atMost: Self.evictionStep) {
            try await configuration.time.sleep(Self.pruningPause)
        }
    }

    private func log(_ pruned: Pruned) {
        let metadata: Logger.Metadata = [
            "completed": .stringConvertible(pruned.completed), "cancelled": .stringConvertible(pruned.cancelled),
            "discarded": .stringConvertible(pruned.discarded), "thumbnails": .stringConvertible(pruned.thumbnails),
            "source_failures": .stringConvertible(pruned.sourceFailures),
            "concurrency_keys": .stringConvertible(pruned.concurrencyKeys),
            "blobs": .stringConvertible(pruned.blobs), "blob_bytes": .stringConvertible(pruned.blobBytes),
        ]
        logger.info("pruned", metadata: metadata)
    }
}
