import CameoModel
import CameoSystem
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// A store shared by a group, with a worker and an application under different users whose umasks would exclude
    /// each other. The user ids need not belong to existing users.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(if: SharedStore.isPossible, "needs root, and a build that every user can reach")
    )
    struct SharedStoreTests {
        @Test(arguments: TestLength.few([SharedStore.User.application, .worker], 1))
        func theUsersOfItsGroupWorkInItWhoeverMadeIt(maker: SharedStore.User) async throws {
            let shared = try SharedStore()
            #expect(try await shared.run(maker, "cameo-enqueue", ["initials:Ada", "--size", "32x32"]).exitStatus == 0)
            #expect(try await shared.drain().exitStatus == 0)
            // Too large for the database, both as an upload and as a thumbnail.
            let enqueued = try await shared.run(
                .application,
                "cameo-enqueue",
                ["--data", "--size", "600x:png"],
                input: try Data(contentsOf: URL(filePath: try await Pictures.photo()))
            ).succeeded()
            try await shared.drain().succeeded()
            let uri = try #require(enqueued.outputText.split(whereSeparator: \.isWhitespace).last)
            let read = try await shared.run(.application, "cameo-status", ["cat", String(uri)])
            #expect(read.exitStatus == 0 && read.standardOutput.count > 150_000, "\(read.errorText)")
            for user in [SharedStore.User.application, .worker] {
                let check = try await shared.run(user, "cameo-admin", ["check"]).succeeded()
                #expect(check.outputText.contains("the group that shares the store can use all of it"))
            }
        }

        @Test func aWorkerTakesWhatTheApplicationPutInBySQL() async throws {
            let shared = try SharedStore()
            #expect(try await shared.run(.worker, "cameo-worker", ["--drain"]).exitStatus == 0)
            let request = #"{"source":"initials:Ada","renditions":[{"width":32}]}"#
            try await shared.run(
                .application,
                program: "sqlite3",
                ["\(shared.deployment.store)/cameo.sqlite", "INSERT INTO job(request) VALUES (json('\(request)'))"]
            ).succeeded()
            #expect(try await shared.drain().outputText.contains("1 completed"))
        }

        @Test func othersAreShutOut() async throws {
            let shared = try SharedStore()
            #expect(try await shared.run(.application, "cameo-enqueue", ["initials:Ada"]).exitStatus == 0)
            for (command, arguments) in [("cameo-enqueue", ["initials:Eve"]), ("cameo-status", [])] {
                #expect(try await shared.run(.stranger, command, arguments).exitStatus == 4)
            }
        }
    }
}

/// A store whose folder was made for a group, as the package makes it.
struct SharedStore {
    enum User: Sendable {
        case worker, application, stranger

        private static let group = "61700"

        /// The command prefix that runs a program as this user.
        var command: [String] {
            let (user, groups) =
                switch self {
                case .worker: ("61701", ["--regid=\(Self.group)", "--clear-groups"])
                case .application: ("61702", ["--regid=61702", "--groups=\(Self.group)"])
                case .stranger: ("61703", ["--regid=61703", "--clear-groups"])
                }
            let mask = self == .worker ? "077" : "022"
            return ["setpriv", "--reuid=\(user)"] + groups + ["sh", "-c", "umask \(mask); exec \"$@\"", "sh"]
        }
    }

    static let isPossible: Bool = {
        guard getuid() == 0, var folder = try? URL(filePath: Deployment.executable("cameo-worker")) else {
            return false
        }
        while folder.path != "/" {
            folder = folder.deletingLastPathComponent()
            var status = stat()
            guard stat(folder.path, &status) == 0, status.st_mode & S_IXOTH != 0 else { return false }
        }
        return true
    }()

    let deployment: Deployment

    init() throws {
        deployment = try Deployment()
        try FileManager.default.createDirectory(atPath: deployment.store, withIntermediateDirectories: false)
        guard chown(deployment.store, 61_701, 61_700) == 0, chmod(deployment.store, 0o2770) == 0 else { throw Errno() }
    }

    func run(_ user: User, _ name: String, _ arguments: [String], input: Data? = nil) async throws -> ProcessResult {
        try await run(user, program: try Deployment.executable(name), arguments, input: input)
    }

    func run(
        _ user: User,
        program: String,
        _ arguments: [String],
        input: Data? = nil
    ) async throws -> ProcessResult {
        try await TestSupport.run(
            "/usr/bin/env",
            user.command + [program] + arguments,
            input: input,
            environment: ["CAMEO_STORE": deployment.store],
            currentDirectory: deployment.folder.url
        )
    }

    func drain() async throws -> ProcessResult { try await run(.worker, "cameo-worker", ["--drain"]) }
}
