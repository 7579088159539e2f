package import CameoModel
package import Foundation

/// Operations for operators, and for the maintenance that workers do on their behalf.
package protocol OperatorStore: AnyStore {
    /// Cancels a job. A running job loses its claim: its worker stops it, and none of its thumbnails appear. Returns
    /// the job's previous state; a job that had already ended is left unchanged.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    func cancel(_ id: Int64) async throws(StoreError) -> JobState
    /// Makes a job that has ended, or waits for its back-off, available at once with a full number of attempts. Its
    /// history is kept. Returns its previous state, and the job that superseded it, if one did.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    func retry(_ id: Int64) async throws(StoreError) -> (before: JobState, supersededBy: Int64?)
    /// Postpones a waiting job until a later time. A job that is running or has ended is left unchanged.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    func snooze(_ id: Int64, until time: Date) async throws(StoreError) -> JobState
    /// Changes the jobs that match a filter, oldest first, up to its limit, in small transactions. Calls `report` after
    /// each transaction; if it throws, the change stops and what was done is kept.
    func change(_ filter: JobFilter, by change: BulkChange, report: (BulkProgress) throws -> Void) async throws
        -> BulkProgress
    /// Pauses a queue: its waiting jobs are not claimed, its running jobs continue. Returns false if it was already
    /// paused.
    func pause(_ queue: String, unknown: UnknownQueue) async throws(StoreError) -> Bool
    /// Resumes a queue; idle workers notice at once. Returns false if it was not paused.
    func resume(_ queue: String) async throws(StoreError) -> Bool
    /// Limits how many jobs of a queue run at once, over all workers; nil removes the limit.
    func limit(queue: String, to count: Int?, unknown: UnknownQueue) async throws(StoreError)
    /// Limits the rate at which jobs of a queue start, over all workers; nil removes the limit.
    func limit(queue: String, toRate rate: StartRate?, unknown: UnknownQueue) async throws(StoreError)
    /// Makes a queue a background queue or an ordinary one: jobs of background queues are claimed only when no others
    /// wait, and take up at most half of a worker.
    func setBackground(_ isBackground: Bool, queue: String, unknown: UnknownQueue) async throws(StoreError)
    /// Limits how many jobs of a concurrency key run at once, overriding requests; nil lets requests decide again.
    /// Returns false if there was no operator's limit to remove.
    @discardableResult
    func limit(key: String, to count: Int?) async throws(StoreError) -> Bool
    /// Limits the rate at which jobs of a concurrency key start, over all queues and workers; nil removes the limit.
    func limit(key: String, toRate rate: StartRate?) async throws(StoreError)
    /// Makes a queue fair between tenants, or ordered by age alone: a fair one takes its next job from the tenant that has had
    /// least time of processors, by weight.
    func setFair(_ isFair: Bool, queue: String, unknown: UnknownQueue) async throws(StoreError)
    /// Sets how much a tenant gets in fair queues, beside one of weight 1.
    func setWeight(_ weight: Double, ofTenant name: String) async throws(StoreError)
    /// Asks a worker to stop. It checks several times a second, and can claim nothing more from now on.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)``
    func stopWorker(_ id: String, _ stop: WorkerStop) async throws(StoreError) -> StatusReport.Worker
    /// Takes the maintenance lock; nil if another process holds it.
    func maintenanceTurn() async throws(StoreError) -> MaintenanceTurn?
    /// Removes expired rows and unreferenced blobs in small transactions.
    func prune(
        _ retention: Retention,
        in turn: MaintenanceTurn,
        pause: Duration,
        report: @escaping (Pruned) async -> Void
    ) async throws -> Pruned
    /// Counts what ``prune(_:in:pause:report:)`` would remove now.
    func prunable(_ retention: Retention) async throws(StoreError) -> Pruned
    /// Where large bytes are that belong to another store, of which this one may be a copy: it reads them, and neither
    /// writes nor removes any there. Nil if they are its own. Unless it only reads, a store takes bytes without an owner.
    func othersBytes() async throws(StoreError) -> OthersBytes?
    /// Takes the bytes over: from now on this store writes and removes them, and the one that owned them only reads.
    ///
    /// - Returns: whose they were; nil if they were this store's already.
    /// - Throws: ``StoreError/refused(reason:)`` if the store has no bytes outside.
    func adoptBytes() async throws(StoreError) -> OthersBytes?
    /// Copies the store's current state into a new or empty folder. The turn prevents the removal of blobs meanwhile; `report`
    /// is called with progress, from any thread. The result names the blobs that the copy lacks because the store does.
    ///
    /// - Throws: ``StoreError/invalidBackupTarget(path:reason:)``; ``StoreError/full(path:)``;
    ///   ``StoreError/needsFolder(name:instead:)`` if the store is not in a folder.
    func backUp(
        to path: String,
        in turn: MaintenanceTurn,
        report: @escaping @Sendable (ByteProgress) -> Void
    ) async throws(StoreError) -> BackupReport
    /// Sets the hook that is told of the end of each job that the queue accepts from now on; nil for none.
    func setHook(_ hook: String?, ofQueue queue: String, unknown: UnknownQueue) async throws(StoreError)
    /// Makes deliveries that were given up wait again, and those that wait due at once; their age counts from now.
    /// Returns their number.
    func retryDeliveries(_ choice: DeliveryChoice) async throws(StoreError) -> Int
    /// Removes everything cached for a source, for all credentials, and its remembered failures.
    func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource
    /// Removes thumbnails with what only they were made from. Every look-up that begins after this finds nothing, even if a job
    /// was making them; jobs that were to make one of them are cancelled. `atOnce` removes bytes too that nothing names any
    /// more, if they are older than a minute.
    func forget(_ selector: ForgetSelector, atOnce: Bool) async throws(StoreError) -> ForgetReceipt
    /// What forgetting would remove. Nothing is changed, but the rights to change it are needed.
    func forgettable(_ selector: ForgetSelector) async throws(StoreError) -> ForgetReceipt
    func forgettable(_ source: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource
    /// Removes bytes that nothing names any more, and of those that were forgotten all that are older than a minute.
    ///
    /// - Throws: ``StoreError/unremoved(blobs:reason:)``
    func removeForgottenBytes() async throws(StoreError)
    /// Removes thumbnails, whose URIs resolve to nothing until they are made again. Those that an unfinished job needs
    /// are kept. Returns the number of those removed.
    func removeThumbnails(_ ids: [ThumbnailID]) async throws(StoreError) -> Int

    // MARK: - Tables of programs

    /// Follows a column of a table: from now on its rows enqueue and forget. Those that exist are read by
    /// ``fillAttachment(_:)``. Attached again, it may have other renditions, another queue or label.
    ///
    /// - Throws: ``StoreError/refused(reason:)``
    func attach(_ wanted: WantedAttachment) async throws(StoreError) -> Attachment
    /// The statements that do that, for a migration. They may be repeated.
    func script(attaching wanted: WantedAttachment) async throws(StoreError) -> String
    func attachments() async throws(StoreError) -> [Attachment]
    /// The same, after a look whether the tables beside the store's own are still followed. What is found is noted.
    func attachmentsAfterLook() async throws(StoreError) -> [Attachment]
    /// Reads some of the rows that existed, and enqueues jobs for those that Cameo does not have as they are, in a background
    /// queue. Goes on after the last that was read.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)``, as those below
    func fillAttachment(_ name: String) async throws(StoreError) -> AttachmentStep
    /// Makes triggers and view anew, drops what Cameo has of rows that are gone, and asks again for thumbnails that are. All
    /// rows are to be read again.
    func mendAttachment(_ name: String) async throws(StoreError)
    /// Compares all rows with what Cameo has; `report` is called with how many were read.
    func compareAttachment(_ name: String, report: @Sendable (Int) -> Void) async throws(StoreError) -> AttachmentCounts
    // MARK: Tables in other databases

    /// How often rows were taken over.
    func moves(of name: String) async throws(StoreError) -> Int64
    /// Takes over rows, in one transaction. False if somebody did so since ``moves(of:)`` was read: then nothing was taken over,
    /// and the rows may be old.
    func hand(_ rows: [FollowedRow], of name: String, after moves: Int64) async throws(StoreError) -> Bool
    /// What the view of an attachment shows of rows, in JSON by key.
    func shown(_ keys: [String], of name: String) async throws(StoreError) -> [String: String]
    /// The keys that are known of an attachment, in their order.
    func keys(of name: String, after last: String?, limit: Int) async throws(StoreError) -> [String]
    /// Counts which of the rows are missing or stale.
    func compare(_ rows: [FollowedRow], of name: String) async throws(StoreError) -> AttachmentCounts
    /// Notes that somebody looks at a database, and why not all of its changes are noted there; that stays until a repair.
    func noteLook(at name: String, trouble: String?) async throws(StoreError)
    /// Notes that all rows were read.
    func noteFilled(_ name: String) async throws(StoreError)
    /// Accepts jobs that other programs have inserted.
    func acceptAll() async throws(StoreError)

    /// Follows the column no more, and keeps its thumbnails or forgets those that it alone has.
    func detach(_ name: String, forgetting: Bool) async throws(StoreError)

    // MARK: - Checks: the store's rows compared with one another and with its bytes

    /// Checks the store's consistency, and reads every blob. Returns all findings, including those without problems.
    /// `report` is called with progress, from any thread.
    func check(report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> [CheckFinding]
    /// Fixes what the rows and bytes themselves prove to be wrong, and returns it. The turn prevents copying and pruning
    /// meanwhile. If more than `most` thumbnails would be removed, or cached originals, nothing is removed, and an error is
    /// returned; nil is 20 of each, or a hundredth of what there is.
    func repair(
        in turn: MaintenanceTurn,
        removingUpTo most: Int?,
        report: @Sendable (ByteProgress) -> Void
    ) async throws(StoreError) -> [CheckFinding]
    /// Brings back the thumbnails and cached originals that repairs have removed in the last seven days, unless they were made
    /// again.
    func undoRepairs(in turn: MaintenanceTurn) async throws(StoreError) -> [CheckFinding]
}

/// The content of a backup.
public struct BackupReport: Hashable, Codable, Sendable {
    /// The number of jobs in any state.
    public let jobs: Int
    /// The number of blobs.
    public let blobs: Int
    /// The size of the database and of blob files in bytes.
    public let bytes: Int
    /// The digests of blobs that are missing or damaged in the store itself, and so missing in the copy.
    public let damaged: [String]

    package init(jobs: Int, blobs: Int, bytes: Int, damaged: [String]) {
        (self.jobs, self.blobs, self.bytes, self.damaged) = (jobs, blobs, bytes, damaged)
    }
}

/// The bytes of another store.
package struct OthersBytes: Hashable, Sendable, CustomStringConvertible {
    package let location: String
    /// The mark of the store that owns them.
    package let owner: String

    package init(location: String, owner: String) {
        (self.location, self.owner) = (location, owner)
    }

    package var description: String {
        "the bytes in \(location) belong to another store (\(owner)): this one reads them, keeps new ones in its own rows, and "
            + "removes none; if it is to take the other's place, run `cameo-admin blobs adopt`"
    }
}

extension OperatorStore {
    /// Runs a body while this process holds the maintenance lock, and gives the lock back before it returns. Waits up to
    /// `patience` for the lock; nil if another process still holds it. The body may take longer than a lease.
    package func maintaining<Value>(
        within patience: Duration,
        renewingEvery interval: Duration = .seconds(20),
        _ body: (MaintenanceTurn) async throws -> Value
    ) async throws -> Value? {
        try await finishing {
            guard let turn = try await maintenanceTurn(within: patience) else { return nil }
            async let _: Void = turn.renew(every: interval)
            return try await body(turn)
        }
    }

    /// Waits up to `patience` for the maintenance lock; nil if it is still held.
    package func maintenanceTurn(within patience: Duration) async throws -> MaintenanceTurn? {
        let started = ContinuousClock.now
        while true {
            if let turn = try await maintenanceTurn() { return turn }
            guard started.duration(to: .now) < patience else { return nil }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
