internal import ArgumentParser
internal import CameoSQLite
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Looks for damage, and mends what can be mended.",
        discussion: """
            Looks at the database's pages, indexes, references, attempts, counters and limits, at every blob, every file and \
            whatever else lies in blobs/, at workers that died, and at what this machine lacks: SQLite's version, the disk, \
            the layers of the renderers' sandbox. Each finding says how to mend it.

            EXAMPLES
              cameo-admin check
              cameo-admin check --repair
              cameo-admin check --json --store /backups/cameo-monday

            EXIT CODES
              0 sound, perhaps with warnings, 1 damaged, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(
        help: """
            Rebuilds damaged indexes, puts back blobs that lie in a wrong folder, removes dangling rows, thumbnails whose \
            bytes are damaged (they are made anew) and files that nothing names, counts counters anew, says so, and checks then.
            """
    )
    var repair = false

    @Flag(help: "Prints one {\"subject\":…,\"severity\":…,\"message\":…} a line; severity: ok, warning, error, mended.")
    var json = false

    func run() async throws {
        if repair { try tell(try await mend()) }
        let findings = try await check()
        try tell(findings)
        if findings.contains(where: { $0.severity == .error }) { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func tell(_ findings: [CheckFinding]) throws {
        for finding in findings {
            if json {
                try Output.message(finding)
            } else {
                Output.line(
                    "\(finding.severity.rawValue)\t\(finding.subject): \(TerminalText.escaped(finding.message))"
                )
            }
        }
    }

    private func mend() async throws -> [CheckFinding] {
        let store = try storeOptions.openEmbedded()
        defer { store.close() }
        let bar = ByteProgressBar()
        defer { bar.finish() }
        return try await store.repair(in: try await MaintenanceTurn.ofCommand(in: store)) { bar.show($0) }
    }

    /// Opens the store for writing where it may, so that a copy without its shared memory file becomes readable again.
    private func check() async throws -> [CheckFinding] {
        let bar = ByteProgressBar()
        defer { bar.finish() }
        do {
            let store = try storeOptions.openEmbedded()
            let findings = try await store.check { bar.show($0) }
            store.close()
            return findings
        } catch StoreError.readOnly {
            return try await storeOptions.openEmbeddedReading().check { bar.show($0) }
        }
    }
}
