import Foundation
import TestSupport

/// A disk that fails on request and a clock that jumps, for the programs of one test (see `TestSupport/faults.c`).
struct FaultyDisk {
    private let folder: String
    private let library: String

    init(in deployment: Deployment) async throws {
        folder = deployment.folder.path("disk")
        library = "\(folder)/faults.so"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let source = Repository.file("Tests/TestSupport/faults.c").path
        let compiled = try await run("cc", ["-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source])
        guard compiled.exitStatus == 0 else { throw CommandFailed(result: compiled) }
    }

    /// The environment for programs that use this disk.
    var environment: [String: String?] { ["LD_PRELOAD": library, "CAMEO_FAULTS": folder] }

    /// From now on, in each process: the first `after` of these calls succeed, the next `count` fail.
    func fail(_ rule: String, after: Int = 0, count: Int) throws {
        try replace("rules", "\(rule) \(after) \(count)\n")
    }

    func heal() throws { try replace("rules", "") }

    /// The number of failed calls.
    var failures: Int {
        let lines = try? String(contentsOfFile: "\(folder)/fired", encoding: .utf8)
        return lines?.split(separator: "\n").count ?? 0
    }

    func waitForFailures(_ count: Int) async throws {
        try await eventually("\(count) calls have failed") { failures >= count }
    }

    func setClock(ahead seconds: Int) throws { try replace("clock", "\(seconds)\n") }

    private func replace(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"), options: .atomic)
    }

    /// Copies a store whose writers are stopped as a power failure would leave it: without data that was not synced.
    func copyAfterPowerCut(of store: String, to copy: String) throws {
        let files = FileManager.default
        try files.copyItem(atPath: store, toPath: copy)
        try? files.removeItem(atPath: "\(copy)/cameo.sqlite-shm")
        let log = "\(copy)/cameo.sqlite-wal"
        let size = try files.attributesOfItem(atPath: log)[.size] as? Int ?? 0
        let end = min(size, durableBytes)
        try scramble(log, from: end, to: size)
        let account = (try? String(contentsOfFile: "\(folder)/synced", encoding: .utf8)) ?? ""
        let synced = Set(account.split(separator: "\n").compactMap { Int($0) })
        for path in try files.subpathsOfDirectory(atPath: "\(store)/blobs") {
            let attributes = try files.attributesOfItem(atPath: "\(store)/blobs/\(path)")
            guard attributes[.type] as? FileAttributeType == .typeRegular,
                let inode = attributes[.systemFileNumber] as? Int, !synced.contains(inode)
            else { continue }
            try Data().write(to: URL(filePath: "\(copy)/blobs/\(path)"))
        }
    }

    /// The length of the synced part of the log.
    private var durableBytes: Int {
        let bytes = (try? Data(contentsOf: URL(filePath: "\(folder)/durable"))) ?? Data()
        return bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Half of the unsynced data is missing, half is random.
    private func scramble(_ log: String, from end: Int, to size: Int) throws {
        let file = try FileHandle(forUpdating: URL(filePath: log))
        defer { try? file.close() }
        try file.truncate(atOffset: UInt64(end))
        try file.seekToEnd()
        let bytes = (0..<(size - end) / 2).map { _ in UInt8.random(in: 0...255) }
        try file.write(contentsOf: Data(bytes))
    }
}
