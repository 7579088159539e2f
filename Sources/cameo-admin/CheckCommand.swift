internal import ArgumentParser
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the store for damage, and repair it.",
        discussion: """
            Checks the database, every blob and file in the store, the workers and this machine, and prints one \
            finding per subject:

              sqlite      the version of SQLite
              journal     the write-ahead log
              database    the database's pages, indexes and constraints
              references  rows that refer to missing rows
              counters    the counts of jobs and totals
              limits      the counts of concurrency keys
              jobs        jobs in the queue and in the history
              attempts    running jobs and their workers
              promises    what jobs are to make, that have not ended
              schema      Cameo's tables, indexes, triggers and views
              guests      tables and triggers of other programs
              blobs       the bytes of every blob
              files       files that belong to no blob
              unexpected  anything else in blobs/
              access      permissions, if a group shares the store
              workers     dead workers that still hold jobs, and live ones that the store refuses something
              disk        free space, and live workers that wait for it
              sandbox     the kernel's support for the renderers' sandbox

            Of a store in PostgreSQL it checks database (its version and what checks its own files), references, \
            counters, limits, jobs, attempts, hooks, promises, blobs, owner (whether the bytes in the bucket or shared \
            folder are this store's), files (bytes there that no row names), unexpected (other names there) and workers.

            A finding that is not ok says how to repair it. --repair also reports uniqueness: duplicate jobs that it cancelled.

            A repair removes only what two ways of reading find damaged, and nothing if that would be more than 20 \
            thumbnails and a hundredth of them, or as many cached originals.

            EXAMPLES
              cameo-admin check
              cameo-admin check --repair
              cameo-admin check --repair --undo
              cameo-admin check --json --store /backups/cameo-monday

            EXIT CODES
              0 sound, possibly with warnings, 1 damaged, or too much to remove, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(
        help: """
            Repair before checking: rebuild damaged indexes, move misplaced blobs back, remove dangling rows, \
            thumbnails with damaged bytes (they are made again) and orphaned files, and recount the counters. Prints \
            each repair. In PostgreSQL, also queue jobs that are nowhere, and leave its indexes to its own programs.
            """
    )
    var repair = false

    @Option(help: ArgumentHelp("With --repair: remove up to so many, instead.", valueName: "thumbnails"))
    var removeUpTo: Int?

    @Flag(help: "With --repair: bring back what repairs removed in the last 7 days and was not made again.")
    var undo = false

    @Flag(
        help:
            "Print JSON, one {\"subject\":…,\"severity\":…,\"message\":…} per line; severity: ok, warning, error, mended."
    )
    var json = false

    func validate() throws {
        guard repair ? !undo || removeUpTo == nil : !undo && removeUpTo == nil else {
            throw ValidationError("--repair takes either --undo or --remove-up-to")
        }
        guard removeUpTo ?? 1 > 0 else { throw ValidationError("--remove-up-to must be at least 1") }
    }

    func run() async throws {
        let mended = repair ? try await mend() : []
        try tell(mended)
        let findings = try await check()
        try tell(findings)
        if (mended + findings).contains(where: { $0.severity == .error }) { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func tell(_ findings: [CheckFinding]) throws {
        for finding in findings {
            let text = "\(finding.severity.rawValue)\t\(finding.subject): \(TerminalText.escaped(finding.message))"
            try Output.answer(finding, asJSON: json, [text])
        }
    }

    private func mend() async throws -> [CheckFinding] {
        let store = try storeOptions.open(creating: false)
        let bar = ProgressBar()
        defer { bar.finish() }
        return try await store.maintained { turn in
            if undo { return try await store.undoRepairs(in: turn) }
            return try await store.repair(in: turn, removingUpTo: removeUpTo) { bar.show($0) }
        }
    }

    /// Opens the store for writing if possible, so that a copy without its shared memory file becomes readable again.
    private func check() async throws -> [CheckFinding] {
        let bar = ProgressBar()
        defer { bar.finish() }
        do {
            let store = try storeOptions.open(creating: false)
            let findings = try await store.check { bar.show($0) }
            store.close()
            return findings
        } catch StoreError.readOnly {
            return try await storeOptions.openReading().check { bar.show($0) }
        }
    }
}
