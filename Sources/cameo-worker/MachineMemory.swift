internal import Foundation

/// The memory that this process and its neighbours in its control group may have.
enum MachineMemory {
    /// The machine's, or less where a control group allows less (cgroups(7), version 2; a service's MemoryMax).
    static var bytes: Int {
        var least = Int(clamping: ProcessInfo.processInfo.physicalMemory)
        // `0::/system.slice/cameo-worker@pictures.service`; a limit may stand at any of its parents.
        let lines = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))?.split(separator: "\n") ?? []
        guard let group = lines.first(where: { $0.hasPrefix("0::/") })?.dropFirst(4) else { return least }
        var folder = URL(filePath: "/sys/fs/cgroup").appending(path: String(group))
        for _ in 0...group.count(where: { $0 == "/" }) + 1 {
            let text = try? String(contentsOf: folder.appending(path: "memory.max"), encoding: .utf8)
            // Else it is the word `max`, or the root, which has none.
            if let limit = text.flatMap({ Int($0.trimmingCharacters(in: .newlines)) }) { least = min(least, limit) }
            folder.deleteLastPathComponent()
        }
        return least
    }
}
