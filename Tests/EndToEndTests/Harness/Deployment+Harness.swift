import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

// Shared by the tests that attack a store: jobs to lose, and queries that detect a loss.
extension Deployment {
    /// Enqueues jobs with two unique thumbnails each: one that is stored as a file, one in a row.
    @discardableResult
    func enqueueDistinct(_ count: Int, from first: Int = 0, in store: any Store) async throws -> [EnqueueReceipt] {
        let photo = "\(pictures)/photo.jpg"
        if !FileManager.default.fileExists(atPath: photo) {
            try add(try await Pictures.photo("jpg"), as: "photo.jpg")
        }
        return try await store.enqueue(
            (first..<first + count).map { index in
                ThumbnailRequest(
                    source: "file://\(photo)",
                    renditions: [
                        Rendition(width: 360 + index % 400, height: 900 + index, format: .png),
                        Rendition(width: 16 + index % 400, height: 900 + index, format: .webp),
                    ]
                )
            }
        )
    }

    /// A worker that has registered in the store, found nothing to do, and was then frozen.
    func startFrozenWorker(_ options: String = "", environment: [String: String?] = [:]) async throws -> ChildProcess {
        let worker = try startWorker(options, environment: environment)
        try await waitUntil { try await $0.status().workers.contains { $0.pid == Int(worker.processID) } }
        try await freeze(worker)
        return worker
    }

    /// Freezes a process at a moment when it does not hold SQLite's write lock, which would block all others.
    func freeze(_ process: ChildProcess) async throws {
        process.send(SIGSTOP)
        try await process.hasStopped()
        while try await !isWritable() {
            process.send(SIGCONT)
            try await Task.sleep(for: .milliseconds(1))
            process.send(SIGSTOP)
            try await process.hasStopped()
        }
    }

    /// Whether SQLite's write lock is free.
    func isWritable() async throws -> Bool {
        let attempt = try await run("sqlite3", ["\(store)/cameo.sqlite", "BEGIN IMMEDIATE; ROLLBACK;"])
        return attempt.exitStatus == 0
    }

    /// The files of blobs without a row: complete ones, and those that a writer has not finished.
    func orphanedFiles() async throws -> (whole: Set<String>, unfinished: Set<String>) {
        let named = Set(
            try await sql("SELECT digest FROM blob WHERE data IS NULL;").split(separator: "\n").map(String.init)
        )
        var (whole, unfinished): (Set<String>, Set<String>) = ([], [])
        let files = FileManager.default.enumerator(atPath: "\(store)/blobs")
        while let path = files?.nextObject() as? String {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(store)/blobs/\(path)", isDirectory: &isFolder),
                !isFolder.boolValue
            else { continue }
            if path.hasPrefix("tmp/") {
                unfinished.insert(path)
            } else if !named.contains(path.replacing("/", with: "")) {
                whole.insert(path)
            }
        }
        return (whole, unfinished)
    }

    /// Waits until nothing is left to do, then checks that no job is missing, incomplete or completed twice, and that
    /// no thumbnail is missing or damaged.
    func expectCompletedOnce(
        _ receipts: [EnqueueReceipt],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await waitUntil { try await $0.unfinishedJobs(queues: nil, background: .included) == 0 }
        let jobs = """
            SELECT state, completed, count(*) FROM (
              SELECT state,
                (SELECT count(*) FROM attempt WHERE job_id = job_status.id AND outcome = 'completed') AS completed
              FROM job_status WHERE id IN (\(try Self.list(receipts)))) GROUP BY 1, 2;
            """
        #expect(try await sql(jobs) == "completed|1|\(receipts.count)", sourceLocation: sourceLocation)
        let made = Set(try await sql("SELECT id FROM thumbnail;").split(separator: "\n").map(String.init))
        for receipt in receipts {
            for thumbnail in receipt.thumbnails {
                #expect(made.contains(String(thumbnail.uri.text.suffix(32))), sourceLocation: sourceLocation)
            }
        }
        try await expectSound(sourceLocation: sourceLocation)
    }

    /// Only the attempt that completed the job counts, not those ended by the death of a worker.
    func expectUncharged(
        _ receipts: [EnqueueReceipt],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let charged = "SELECT count(*) FROM job_status WHERE id IN (\(try Self.list(receipts))) AND attempt <> 1;"
        #expect(try await sql(charged) == "0", sourceLocation: sourceLocation)
        let others = "SELECT group_concat(outcome) FROM attempt WHERE outcome NOT IN ('completed', 'interrupted');"
        #expect(try await sql(others) == "", sourceLocation: sourceLocation)
    }

    private static func list(_ receipts: [EnqueueReceipt]) throws -> String {
        try receipts.map { "\(try $0.jobID)" }.joined(separator: ",")
    }

    /// `cameo-admin check` finds nothing wrong.
    func expectSound(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let check = try await command("cameo-admin check")
        #expect(check.exitStatus == 0, "\(check.outputText)\(check.errorText)", sourceLocation: sourceLocation)
    }
}
