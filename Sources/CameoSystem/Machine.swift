internal import CLinux
internal import Foundation

/// What this process may use of its machine.
package enum Machine {
    /// The least of the machine's processors, the process's affinity (`taskset`, cpusets) and its control groups' quotas
    /// (`docker run --cpus`, systemd's `CPUQuota`), at least 1.
    package static let processors = max(1, min(Int(cameo_affinity()), ControlGroups.own.processors ?? .max))

    /// The least of the machine's memory and its control groups' limits, in bytes.
    package static let memory =
        min(Int(clamping: ProcessInfo.processInfo.physicalMemory), ControlGroups.own.memory ?? .max)
}

/// The control groups of a process and their limits, which those of their parents restrict (cgroups(7)).
package struct ControlGroups {
    package static let own = ControlGroups(
        (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? "",
        under: "/sys/fs/cgroup"
    )

    private let groups: [(controllers: [Substring], folders: [String])]

    /// The memberships are the lines of `/proc/self/cgroup`: `0::/system.slice/a.service`, or one for each hierarchy of version
    /// 1. In a container they may name folders that only its host sees; the container's own is then at the root of the mount.
    package init(_ memberships: String, under mount: String) {
        groups = memberships.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return nil }
            let names = fields[2].split(separator: "/")
            let root = fields[1].isEmpty ? mount : "\(mount)/\(fields[1])"
            let folders = (0...names.count).map { ([root] + names.prefix($0).map(String.init)).joined(separator: "/") }
            return (fields[1].split(separator: ","), folders)
        }
    }

    /// The lowest quota in whole processors, rounded up; nil if there is none.
    package var processors: Int? {
        let quotas = limits("cpu", "cpu.max") + limits("cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us")
        return quotas.compactMap { words in
            guard words.count == 2, words[0] > 0, words[1] > 0 else { return nil }
            return (words[0] - 1) / words[1] + 1
        }.min()
    }

    /// The lowest limit in bytes; nil if there is none.
    package var memory: Int? {
        (limits("memory", "memory.max") + limits("memory", "memory.limit_in_bytes")).compactMap(\.first).min()
    }

    /// The numbers in these files of each group that has the controller. The word `max` is none.
    private func limits(_ controller: String, _ files: String...) -> [[Int]] {
        groups.filter { $0.controllers.isEmpty || $0.controllers.contains { $0 == controller } }.flatMap(\.folders)
            .map { folder in
                files.flatMap { file in
                    let text = (try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)) ?? ""
                    let words = text.split(whereSeparator: \.isWhitespace).map { Int($0) }
                    return words.contains(nil) ? [] : words.compactMap(\.self)
                }
            }
    }
}
