internal import ArgumentParser
internal import CameoStore
internal import CommandSupport

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
