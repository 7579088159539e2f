internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

@main
struct CameoAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cameo-admin",
        abstract: "Changes jobs by hand and checks the store.",
        discussion: """
            EXAMPLES
              cameo-admin retry 17 18
              cameo-admin cancel 19
              cameo-admin check

            EXIT CODES
              0 done, 1 a job is not there or a check failed, 2 bad usage, 4 the store cannot be opened
            """,
        version: CameoVersion.current,
        subcommands: [RetryCommand.self, CancelCommand.self, CheckCommand.self]
    )

    static func main() async {
        await CommandMain.run(Self.self)
    }
}

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Makes jobs available at once, with all their attempts before them again."
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "Numbers of jobs.")
    var id: [Int64]

    func run() async throws {
        let store = try Store(at: storeOptions.path, creating: false)
        try await changeJobs(id) { id in
            let before = try await store.retry(id)
            return before == .available || before == .running
                ? "job \(id) is \(before.rawValue) already" : "job \(id) was \(before.rawValue), is available"
        }
    }
}

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Calls jobs off. A running one is stopped and leaves nothing."
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "Numbers of jobs.")
    var id: [Int64]

    func run() async throws {
        let store = try Store(at: storeOptions.path, creating: false)
        try await changeJobs(id) { id in
            let before = try await store.cancel(id)
            return before.isFinal ? "job \(id) had ended already: \(before.rawValue)" : "job \(id) is cancelled"
        }
    }
}

/// Changes every job that there is, and fails at the end if one was not.
private func changeJobs(_ ids: [Int64], _ change: (Int64) async throws -> String) async throws {
    var missing = 0
    for id in ids {
        do {
            Output.line(try await change(id))
        } catch StoreError.noSuchJob {
            Output.error("cameo-admin: there is no job \(id)")
            missing += 1
        }
    }
    if missing > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
}

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Looks for damage: database, references, counters, every blob, dead workers."
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Prints one {\"subject\":…,\"severity\":…,\"message\":…} a line.")
    var json = false

    func run() async throws {
        let findings = try await check()
        for finding in findings {
            if json {
                try Output.message(finding)
            } else {
                Output.line(
                    "\(finding.severity.rawValue)\t\(finding.subject): \(TerminalText.escaped(finding.message))"
                )
            }
        }
        if findings.contains(where: { $0.severity == .error }) { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    /// Opens the store for writing where it may, so that a copy without its shared memory file becomes readable again.
    private func check() async throws -> [CheckFinding] {
        do {
            let store = try Store(at: storeOptions.path, creating: false)
            let findings = try await store.check()
            store.close()
            return findings
        } catch StoreError.readOnly {
            return try await Store(reading: storeOptions.path).check()
        }
    }
}
