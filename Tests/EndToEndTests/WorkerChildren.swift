import Foundation
import TestSupport

/// The processes that a worker has started, as /proc shows them.
enum WorkerChildren {
    static func of(_ worker: ChildProcess) throws -> Set<Int32> {
        var found: Set<Int32> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let pid = Int32(name), fields(of: pid)?.parent == worker.processID else { continue }
            found.insert(pid)
        }
        return found
    }

    private static func fields(of pid: Int32) -> (state: Character, parent: Int32)? {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let name = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[stat.index(after: name)...].split(separator: " ")
        guard fields.count > 1, let state = fields[0].first, let parent = Int32(fields[1]) else { return nil }
        return (state, parent)
    }

    /// Not if it has ended, and its worker has yet to take note.
    static func isAlive(_ pid: Int32) -> Bool { fields(of: pid).map { $0.state != "Z" && $0.state != "X" } ?? false }

    /// Only once it has become that program: before, it shows the files that its parent has open.
    static func hasOpen(_ name: String, _ pid: Int32, as program: String = "cameo-renderer") -> Bool {
        let (files, process) = (FileManager.default, "/proc/\(pid)")
        guard let own = try? String(contentsOfFile: "\(process)/comm", encoding: .utf8), own.hasPrefix(program) else {
            return false
        }
        let open = (try? files.contentsOfDirectory(atPath: "\(process)/fd")) ?? []
        return open.contains { file in
            (try? files.destinationOfSymbolicLink(atPath: "\(process)/fd/\(file)"))?.hasSuffix("/\(name)") == true
        }
    }

    /// Whether none is alive within two minutes: a renderer that nobody ends runs for its whole time limit.
    static func areGoneSoon(_ pids: Set<Int32>) async throws -> Bool {
        let started = ContinuousClock.now
        while started.duration(to: .now) < .seconds(120) {
            if !pids.contains(where: isAlive) { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}
