internal import CLinux
internal import CMemory
internal import CSandbox
internal import CameoModel
package import CameoRenderMessages
internal import Glibc

/// What a child process of a worker does before it reads a byte of any source. The order matters.
package struct ChildStartup {
    /// The program's name, for messages.
    private let program: String
    /// The command line.
    package let arguments: RendererArguments

    /// Reads the command line; answers `--version` and ends the program if that is what it says.
    package init(_ program: String) {
        if CommandLine.arguments.dropFirst() == ["--version"] {
            print(CameoVersion.current)
            exit(0)
        }
        guard let arguments = RendererArguments(CommandLine.arguments.dropFirst()) else {
            Refusal.end("\(program) must be started by cameo-worker")
        }
        self.program = program
        self.arguments = arguments
    }

    /// Locks the process down and reports which layers are in force. `load` loads the libraries, of which only the calling
    /// thread remains, and says what they need.
    package func run(load: () -> ChildNeeds) -> SandboxReport {
        guard arguments.protocolVersion == RendererProtocol.version else {
            Refusal.end(
                "\(program) speaks protocol version \(RendererProtocol.version), "
                    + "its worker \(arguments.protocolVersion): install both from the same release"
            )
        }
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(RendererProtocol.socketDescriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 else {
            Refusal.end("\(program) must be started by cameo-worker")
        }
        guard cameo_die_with_parent(arguments.parent) == 0 else { Refusal.end("\(program) lost its worker") }
        volunteerForTheOOMKiller()
        // Opens /proc/self/status, which no later step allows.
        guard cameo_report_crashes() == 0 else { Refusal.end("\(program) cannot open /proc/self/status") }
        cameo_reuse_memory()
        return lockDown(for: load())
    }

    /// If memory runs out, the kernel kills a child before its worker, which costs one attempt (proc(5),
    /// oom_score_adj). Without /proc the renderer is as likely a victim as any process.
    private func volunteerForTheOOMKiller() {
        guard let file = fopen("/proc/self/oom_score_adj", "we") else { return }
        defer { fclose(file) }
        fputs("1000", file)
    }

    private func setLimits() {
        // A child writes no files: a write to one fails instead of ending the process.
        signal(SIGXFSZ, SIG_IGN)
        // No core dump. If core_pattern is a pipe, Linux ignores every limit but 1 (fs/coredump.c), and a dump of this
        // address space takes seconds. Under a hard limit of 0 this limit cannot be set, and 0 stays.
        var core = rlimit(rlim_cur: 1, rlim_max: 1)
        setrlimit(Int32(RLIMIT_CORE.rawValue), &core)
        // RLIMIT_NPROC is left alone: it counts all processes of the user, including the worker and its other children.
        // The system call filter allows new threads only, and the worker kills a child that has too many (threads
        // that share one stack take no address space).
        let limits: [(resource: __rlimit_resource, value: UInt64)] = [
            (RLIMIT_AS, UInt64(arguments.memoryLimitBytes)), (RLIMIT_FSIZE, 0), (RLIMIT_NOFILE, 32),
        ]
        for limit in limits {
            guard cameo_lower_limit(Int32(limit.resource.rawValue), limit.value) == 0 else {
                Refusal.end("\(program) cannot set its limits")
            }
        }
    }

    /// Applies all layers. A layer that the kernel does not support is skipped and missing in the report; the worker
    /// decides what follows. The limits are set after file access is restricted and before system calls are.
    ///
    /// DESIGN: the lock-down, which cannot be undone, runs after the child has loaded its libraries, which needs files and
    /// executable memory, and before the first source arrives. All layers bind the calling thread and threads that it starts
    /// later, so there must be no other thread yet.
    private func lockDown(for needs: ChildNeeds) -> SandboxReport {
        let threads = cameo_thread_count()
        guard threads == 1 else {
            Refusal.end("\(program) has \(threads) threads before its lock-down, which would bind only one of them")
        }
        var report = SandboxReport()
        report.hasNoNewPrivileges = !isLeftOut("no_new_privs") && cameo_give_up_privileges() == 0
        report.landlockVersion = isLeftOut("Landlock") ? 0 : max(0, restrictFiles(to: needs.readableFolders))
        setLimits()
        // After the limits, some of which need a capability, and before the filter, which forbids capset.
        report.hasNoCapabilities = !isLeftOut("capset") && cameo_drop_capabilities() == 0
        report.hasSystemCallFilter = !isLeftOut("seccomp") && cameo_restrict_calls(needs.generatesCode) == 0
        return report
    }

    private func restrictFiles(to readableFolders: [String]) -> Int {
        let folders = (readableFolders + oddFolders).map { UnsafePointer(strdup($0)) }
        defer { for folder in folders { free(UnsafeMutablePointer(mutating: folder)) } }
        return Int(cameo_restrict_files(folders, folders.count))
    }

    /// An extra folder by which tests simulate a font folder that cannot be opened. Debug builds only.
    private var oddFolders: [String] {
        #if DEBUG
            getenv("CAMEO_TEST_FOLDER").map { [String(cString: $0)] } ?? []
        #else
            []
        #endif
    }

    /// Whether a test simulates a kernel without this layer. Debug builds only.
    private func isLeftOut(_ layer: String) -> Bool {
        #if DEBUG
            guard let names = getenv("CAMEO_TEST_WITHOUT") else { return false }
            return String(cString: names).split(separator: ",").contains { $0 == layer }
        #else
            return false
        #endif
    }
}

/// What a locked-down child may still do, because its libraries need it.
package struct ChildNeeds {
    /// The folders that stay readable.
    package var readableFolders: [String]
    /// Whether anonymous memory may become executable.
    package var generatesCode: Bool

    package init(readableFolders: [String] = [], generatesCode: Bool = false) {
        self.readableFolders = readableFolders
        self.generatesCode = generatesCode
    }
}

/// Ends the program before it has served a job.
package enum Refusal {
    /// Writes one sentence to standard error and exits with code 2.
    package static func end(_ sentence: String) -> Never {
        let line = Array("\(sentence)\n".utf8)
        write(STDERR_FILENO, line, line.count)
        exit(2)
    }
}
