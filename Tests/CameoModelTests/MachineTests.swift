import CameoModel
import CameoSystem
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MachineTests {
    @Test(
        arguments: [
            // Without control groups, without a quota, and with text that is none.
            ("", [:], nil), ("0::/", [:], nil), ("0::/a", ["a/cpu.max": "max 100000\n"], nil),
            ("0::/a", ["a/cpu.max": "-1 0\n"], nil), ("0", ["cpu.max": "1 1"], nil),
            // A part of a processor counts as one.
            ("0::/a", ["a/cpu.max": "150000 100000\n"], 2), ("0::/a", ["a/cpu.max": "1000 100000\n"], 1),
            ("0::/a", ["a/cpu.max": "9223372036854775807 1\n"], Int.max),
            // The lowest of the group's and its parents'.
            ("0::/a/b/c", ["a/cpu.max": "100000 100000", "a/b/c/cpu.max": "300000 100000"], 1),
            ("0::/a/b/c", ["a/cpu.max": "max 100000", "a/b/cpu.max": "300000 100000"], 3),
            // In a container that sees its own group as the root.
            ("0::/docker/0123", ["cpu.max": "200000 100000\n"], 2),
            // Version 1: a hierarchy per controller.
            (
                "5:memory:/a\n4:cpu,cpuacct:/a\n1:name=systemd:/a\n0::/a",
                ["cpu,cpuacct/a/cpu.cfs_quota_us": "400000\n", "cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"], 4
            ),
            (
                "4:cpu,cpuacct:/", ["cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpu.cfs_period_us": "100000"],
                nil
            ),
        ] as [(String, [String: String], Int?)]
    )
    func theLowestQuotaOfTheControlGroupsCounts(memberships: String, files: [String: String], wanted: Int?) throws {
        try withFiles(files) { #expect(ControlGroups(memberships, under: $0).processors == wanted) }
    }

    @Test(
        arguments: [
            ("", [:], nil), ("0::/", [:], nil), ("0::/a", ["a/memory.max": "max\n"], nil),
            ("0::/a/b", ["a/memory.max": "4096\n", "a/b/memory.max": "8192\n"], 4_096),
            ("0::/docker/0123", ["memory.max": "8192\n"], 8_192),
            ("5:memory:/a\n0::/", ["memory/a/memory.limit_in_bytes": "4096\n"], 4_096),
        ] as [(String, [String: String], Int?)]
    )
    func theLowestMemoryOfTheControlGroupsCounts(memberships: String, files: [String: String], wanted: Int?) throws {
        try withFiles(files) { #expect(ControlGroups(memberships, under: $0).memory == wanted) }
    }

    private func withFiles(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let folder = try TemporaryFolder()
        for (path, text) in files {
            let file = folder.url.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        try body(folder.url.path)
    }
}
