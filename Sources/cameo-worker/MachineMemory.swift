internal import CameoModel
internal import Foundation

/// The memory available to this process and its control group.
enum MachineMemory {
    /// The machine's memory, or less if a control group limits it (cgroups(7), version 2; a service's MemoryMax).
    static var bytes: Int {
        var least = Int(clamping: ProcessInfo.processInfo.physicalMemory)
        // `0::/system.slice/cameo-worker@pictures.service`; any of its parents may have a limit.
        let lines = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))?.lines ?? []
        guard let group = lines.first(where: { $0.hasPrefix("0::/") })?.dropFirst(4) else { return least }
        var folder = URL(filePath: "/sys/fs/cgroup").appending(path: String(group))
        for _ in 0...group.count(where: { $0 == "/" }) + 1 {
            let text = try? String(contentsOf: folder.appending(path: "memory.max"), encoding: .utf8)
            // Otherwise it is the word `max`, or this is the root, which has no limit.
            if let limit = text.flatMap({ Int($0.trimmingCharacters(in: .newlines)) }) { least = min(least, limit) }
            folder.deleteLastPathComponent()
        }
        return least
    }
}
