import Foundation
import TestSupport

extension ChildProcess {
    /// Returns when it has stopped, by its own signal or another's; at once if it has ended.
    func hasStopped() async throws {
        try await eventually("process \(processID) has stopped") { !isMoving(processID) }
    }

    /// Returns when every command of ours in its group has stopped. A shell above them need not: it writes nothing, and
    /// only waits while it starts a command.
    func commandsHaveStopped() async throws {
        while true {
            let members = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
                .filter { getpgid($0) == processID && isCommand($0) }
            guard members.contains(where: isMoving) else { return }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private func isCommand(_ process: Int32) -> Bool {
        (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8))?.hasPrefix("cameo-") ?? false
    }

    private func isMoving(_ process: Int32) -> Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let state = stat.split(separator: ")").last?.first(where: { $0 != " " })
        else { return false }
        return !"TtZX".contains(state)
    }

    /// Returns when it has written this text to its standard error; at once if it has ended.
    func hasSaid(_ text: String) async throws {
        try await hasSaidLine { $0.contains(text) }
    }

    /// Returns when it has written a matching line to its standard error; at once if it has ended.
    func hasSaidLine(_ isMeant: (Substring) -> Bool) async throws {
        while !String(decoding: standardError, as: UTF8.self).split(separator: "\n").contains(where: isMeant),
            kill(processID, 0) == 0
        {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
