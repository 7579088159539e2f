import CameoModel
import Foundation
import TestSupport

/// A private network in which a real resolver gets the answers that the test wants, and every address of a name belongs
/// to this machine, with web servers: see `nameserver.py`.
struct PrivateNetwork {
    /// The traffic that was recorded.
    struct Report: Decodable {
        let exitStatus: Int32
        let errorText: String
        /// Connections that the web servers accepted, by address.
        let connections: [String: Int]
        /// Look-ups by name, as the name server received them.
        let questions: [String: Int]
    }

    /// The answers for each name, look-up by look-up: addresses, or another name.
    let names: [String: [[String]]]

    /// Runs a script in which `worker` drains the deployment's store.
    func run(_ script: String = "worker", _ deployment: Deployment) async throws -> Report {
        let zone = try deployment.folder.write(try JSONEncoder().encode(names), to: "zone.json")
        let worker = "'\(try Deployment.executable("cameo-worker"))' --drain --retry base=0.05 \"$@\""
        let result = try await TestSupport.run(
            "/usr/bin/env",
            Self.command + [
                "/usr/bin/python3", Repository.file("Tests/TestSupport/nameserver.py").path, zone,
                try await Pictures.photo("jpg"), "/bin/sh", "-c", "worker() { \(worker); }\n\(script)",
            ],
            environment: ["CAMEO_STORE": deployment.store],
            currentDirectory: deployment.folder.url
        )
        guard result.exitStatus == 0 else { throw CommandFailed(result: result) }
        return try JSONDecoder().decode(Report.self, from: result.standardOutput)
    }

    /// Unprivileged if the kernel allows it, else as root.
    private static let command = ["unshare", "--net", "--mount"] + (getuid() == 0 ? [] : ["--map-root-user"])

    static let isAvailable: Bool = {
        let probe = Process()
        probe.executableURL = URL(filePath: "/usr/bin/env")
        probe.arguments = ["timeout", "60"] + command + ["sh", "-c", "ip link set lo up && mount -t tmpfs tmpfs /mnt"]
        probe.standardInput = FileHandle.nullDevice
        probe.standardOutput = FileHandle.nullDevice
        probe.standardError = FileHandle.nullDevice
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }()
}
