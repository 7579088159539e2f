import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport

/// A store and a folder of pictures for one test, and the built commands, run as real processes.
struct Deployment {
    let folder: TemporaryFolder
    let pictures: String
    let store: String
    private let renderer: [String: String?]

    /// The `renderer` may be another program: `cameo-renderer-hooked`, which some sources make misbehave.
    init(renderer: String? = nil) throws {
        self.renderer = try renderer.map { ["CAMEO_RENDERER": try Self.executable($0)] } ?? [:]
        folder = try TemporaryFolder()
        pictures = folder.path("pictures")
        store = folder.path("store")
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
    }

    /// With a photo in its folder of pictures, `photo.jpg`.
    static func withPhoto() async throws -> Deployment {
        let deployment = try Deployment()
        try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
        return deployment
    }

    /// Whether `cameo-web` was built, and is tested: with `CAMEO_WEB=1`.
    static let hasWeb = ProcessInfo.processInfo.environment["CAMEO_WEB"] == "1"

    /// The program that users run, which was built beside the tests.
    static func executable(_ name: String) throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: own).deletingLastPathComponent().appending(path: name).path
    }

    /// Runs a command on the store and waits for its end. The line is as it is typed, with spaces between the words, and
    /// more words may follow, which may contain spaces.
    func command(
        _ line: String,
        _ more: [String] = [],
        input: Data? = nil,
        environment: [String: String?] = [:],
        timeout: Duration = .seconds(300)
    ) async throws -> ProcessResult {
        let words = Self.words(line)
        return try await run(
            try Self.executable(words[0]),
            words.dropFirst() + more,
            input: input,
            environment: ["CAMEO_STORE": store].merging(renderer) { $1 }.merging(environment) { $1 },
            currentDirectory: folder.url,
            timeout: timeout
        )
    }

    /// The words of a line as it is typed.
    private static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    /// Enqueues sources that may be missing, since most tests need jobs, not pictures.
    func enqueue(_ line: String, _ more: String..., input: Data? = nil) async throws -> [EnqueueReceipt] {
        try await enqueue(Self.words(line) + more, input: input)
    }

    func enqueue(_ arguments: [String], input: Data? = nil) async throws -> [EnqueueReceipt] {
        let result = try await command("cameo-enqueue", arguments + ["--json", "--allow-missing"], input: input)
        guard result.exitStatus == 0 else { throw CommandFailed(result: result) }
        return try result.outputText.split(separator: "\n").map {
            try WireFormat.decode(EnqueueReceipt.self, from: Data($0.utf8))
        }
    }

    /// The files that `cameo-status export` has written into a folder, but its manifest.
    func exported(_ folder: String) throws -> [String] {
        let manifest = try Data(contentsOf: URL(filePath: self.folder.path("\(folder)/manifest.json")))
        return try JSONDecoder().decode([[String: String]].self, from: manifest).compactMap { $0["file"] }
    }

    /// Drains the queue.
    func drain(_ options: String = "", _ more: String...) async throws -> ProcessResult {
        try await command("cameo-worker --drain --allow-root \(pictures) \(options)", more)
    }

    /// Time limits for a worker that is to reach none, however slow the machine is and however long a test holds a
    /// server's answer. Options of the test precede them.
    static let patience: [String: String?] = [
        "CAMEO_FETCH_TIMEOUT": "1h,connect=2m,low-speed=0", "CAMEO_JOB_TIMEOUT": "1h",
    ]

    func startWorker(
        _ options: String = "",
        _ more: String...,
        environment: [String: String?] = [:]
    ) throws -> ChildProcess {
        try startWorker(Self.words(options) + more, environment: environment)
    }

    func startWorker(_ arguments: [String], environment: [String: String?]) throws -> ChildProcess {
        try ChildProcess(
            try Self.executable("cameo-worker"),
            ["--allow-root", pictures] + arguments,
            environment: Self.patience.merging(["CAMEO_STORE": store]) { $1 }.merging(renderer) { $1 }
                .merging(environment) { $1 },
            currentDirectory: folder.url
        )
    }

    // Read directly, not with a command, because hundreds of starts take long. The output of `cameo-status` is tested
    // elsewhere.

    func status() async throws -> StatusReport { try await (SQLiteStore(reading: store) as any Store).status() }

    func job(_ id: Int64) async throws -> Job { try await (SQLiteStore(reading: store) as any Store).job(id) }

    /// Runs a script of bash in the test's folder, or one below it, with the built programs in its search path.
    func shell(
        _ script: String,
        in below: String = ".",
        environment: [String: String?] = [:]
    ) async throws -> ProcessResult {
        let bin = URL(filePath: try Self.executable("cameo-status")).deletingLastPathComponent().path
        let search = "\(bin):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        return try await run(
            "/bin/bash",
            ["-o", "pipefail", "-c", script],
            environment: ["CAMEO_STORE": store, "PATH": search].merging(environment) { $1 },
            currentDirectory: URL(filePath: folder.path(below))
        )
    }

    /// Returns when the store satisfies a condition, which is checked after every commit of any process.
    func waitUntil(_ condition: (any Store) async throws -> Bool) async throws {
        let store: any Store = try SQLiteStore(at: store)
        var version: Int?
        while true {
            let current = try await store.version()
            if current != version, try await condition(store) { return }
            version = current
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func sql(_ text: String) async throws -> String {
        let script = ".timeout 120000\nPRAGMA wal_autocheckpoint=0;\n\(text)\n"
        let result = try await run("sqlite3", ["\(store)/cameo.sqlite"], input: Data(script.utf8))
        guard result.exitStatus == 0 else { throw CommandFailed(result: result) }
        // The first line answers the PRAGMA.
        return result.outputText.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            .joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes a fixture into the folder of pictures, under a name of its own.
    @discardableResult
    func add(_ fixture: String, as name: String) throws -> String {
        let path = "\(pictures)/\(name)"
        try FileManager.default.copyItem(atPath: fixture, toPath: path)
        return path
    }
}

extension ProcessResult {
    /// The result, if the exit code is 0.
    @discardableResult
    func succeeded() throws -> ProcessResult {
        guard exitStatus == 0 else { throw CommandFailed(result: self) }
        return self
    }
}

extension ChildProcess {
    /// Sends a signal, and waits for the end.
    func stop(_ signal: Int32 = SIGTERM) async -> Ending {
        send(signal)
        return await ending
    }
}

/// A command that should have succeeded.
struct CommandFailed: Error, CustomStringConvertible {
    let result: ProcessResult

    var description: String { "exit \(result.exitStatus): \(result.errorText)\(result.outputText)" }
}
