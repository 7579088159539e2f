import CameoModel
import CameoRenderer
import Foundation
import TestSupport
import Testing

// Children under signals from a terminal, a service manager and the kernel.
extension PoolTests {
    /// Signals that a terminal, a service manager or a supervisor sends to every process; of two deadly signals, the
    /// first would determine the end.
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func signalThatIsForTheWorkerDoesNothing(_ signal: Int32) async throws {
        let hang = try await hook("HANG")
        try await Renderers.withPool { pool in
            let task = Task { try await pool.render(Rendition(width: 64), of: hang) }
            try await expectBusy(pool)
            for child in pool.statistics.processes {
                #expect(getpgid(child) == child)
                kill(child, signal)
                kill(child, SIGKILL)
            }
            let failure = await failure { try await task.value }
            #expect(failure?.message.contains("SIGKILL") == true, "\(failure?.message ?? "")")
        }
    }

    /// Stopping a worker with all its processes does not blame a picture.
    @Test func deathByASignalWhileTheWorkerEndsIsNobodysFault() async throws {
        let hang = try await hook("HANG")
        try await Renderers.withPool { pool in
            let task = Task { try await pool.render(Rendition(width: 64), of: hang) }
            try await expectBusy(pool)
            pool.expectEnd()
            for child in pool.statistics.processes { kill(child, SIGKILL) }
            await #expect(throws: CancellationError.self) { try await task.value }
            let crash = await failure { try await pool.render(Rendition(width: 64), of: hook("CRASH")) }
            #expect(crash?.code == .renderCrashed)
        }
    }

    /// The kernel kills a renderer before its worker, which would take all running jobs with it.
    @Test func kernelTakesARendererFirst() async throws {
        try await Renderers.withPool { pool in
            try await expectHealthy(pool)
            let processes = pool.statistics.processes
            #expect(!processes.isEmpty)
            for process in processes {
                let score = try String(contentsOfFile: "/proc/\(process)/oom_score_adj", encoding: .utf8)
                #expect(score == "1000\n")
            }
        }
    }
}
