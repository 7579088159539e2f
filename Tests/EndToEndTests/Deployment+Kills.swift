import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

extension Deployment {
    /// Enqueues as many jobs of these sources, two thumbnails each, kills as many workers, drains the queue, and expects that
    /// nothing was lost, done twice or charged.
    func killAfterKill(_ kills: Int, jobs: Int, of sources: [String]) async throws {
        for index in 0..<jobs {
            let source = sources[index % sources.count]
            try add(source, as: "p\(index).\(URL(filePath: source).pathExtension)")
        }
        let receipts = try await enqueue("pictures/* --size 96x96:cover:webp --size 200x:jpeg")
        #expect(receipts.count == jobs)

        for _ in 0..<kills {
            let worker = try startWorker("--log-level error")
            let pid = Int(worker.processID)
            try await waitUntil { store in
                try await store.status().workers.contains { $0.pid == pid && $0.running > 0 }
            }
            while try WorkerChildren.of(worker).isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            // The test needs a random moment, which nothing signals.
            try await Task.sleep(for: .milliseconds(.random(in: 0...150)))
            let children = try WorkerChildren.of(worker)
            #expect(await worker.stop(SIGKILL) == .signalled(SIGKILL))
            #expect(!children.isEmpty)
            #expect(try await WorkerChildren.areGoneSoon(children))
        }
        let interrupted = try await sql(
            "SELECT count(DISTINCT worker) FROM attempt WHERE outcome = 'interrupted';"
        )
        // Only the next worker notices the death of the last one, and some are killed between two jobs.
        #expect(try #require(Int(interrupted)) >= kills * 3 / 4 - 1)
        #expect(
            try await status().count(.completed) < jobs,
            "all was done before the last kill: nothing was tested"
        )

        try await drain("--log-level error").succeeded()
        let status = try await self.status()
        #expect(status.count(.completed) == jobs)
        #expect(status.jobs.values.reduce(0, +) == jobs)
        #expect(status.workers.isEmpty)
        #expect(status.thumbnails == 2 * jobs)
        let seen = try await sql(
            "SELECT count(DISTINCT worker) FROM attempt WHERE outcome = 'interrupted';"
        )
        #expect(try #require(Int(seen)) >= kills * 3 / 4)
        // One completed attempt per job, counted as the first; all others were interrupted.
        let attempts = """
            SELECT count(*), sum(attempt = 1), sum(crash_count), (SELECT count(*) FROM attempt WHERE outcome = 'completed'),
              (SELECT count(*) FROM attempt WHERE outcome = 'interrupted'),
              (SELECT count(*) FROM attempt WHERE outcome NOT IN ('completed', 'interrupted')) FROM outcome;
            """
        let counts = try await sql(attempts).split(separator: "|").compactMap { Int($0) }
        try #require(counts.count == 6)
        let others = try await sql(
            "SELECT outcome, failure FROM attempt WHERE outcome NOT IN ('completed', 'interrupted');"
        )
        #expect((counts[0], counts[1], counts[3], counts[5]) == (jobs, jobs, jobs, 0), "\(others)")
        #expect(counts[2] == counts[4])
        try await expectEveryThumbnailDecodes(of: jobs)
        try await command("cameo-admin check").succeeded()
    }

    private func expectEveryThumbnailDecodes(of jobs: Int) async throws {
        try await command("cameo-status export out").succeeded()
        let files = try exported("out").map { folder.path("out/\($0)") }
        #expect(files.count == 2 * jobs)
        let headers = try await Pictures.tool("vipsheader", files).split(separator: "\n")
        let photo = try await Pictures.tool("vipsheader", [try await Pictures.photo("jpg")])
        #expect(headers.count == 2 * jobs)
        #expect(headers.count { $0.contains(".webp: 96x96 ") } == jobs)
        #expect(headers.count { $0.contains(".jpg: 200x") } == jobs, "\(photo)")
        // Decodes every pixel, by making a tiny copy of each thumbnail.
        let decoded = folder.path("decoded")
        try FileManager.default.createDirectory(atPath: decoded, withIntermediateDirectories: true)
        try await Pictures.tool("vipsthumbnail", files + ["--size", "8x8", "-o", "\(decoded)/%s.png"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: decoded).count == 2 * jobs)
    }
}
