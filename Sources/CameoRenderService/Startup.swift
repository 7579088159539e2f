internal import CLinux
internal import CameoImaging
internal import CameoModel
internal import CameoRenderMessages
internal import Glibc

/// What a renderer does before it reads a byte of any source. The order matters.
enum Startup {
    /// Locks the process down and reports which layers are in force.
    static func run(_ arguments: RendererArguments) -> SandboxReport {
        guard arguments.protocolVersion == RendererProtocol.version else {
            Refusal.end(
                "cameo-renderer speaks protocol version \(RendererProtocol.version), "
                    + "its worker \(arguments.protocolVersion): install both from the same release"
            )
        }
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(RendererProtocol.socketDescriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 else {
            Refusal.end("cameo-renderer must be started by cameo-worker")
        }
        guard cameo_die_with_parent(arguments.parent) == 0 else { Refusal.end("cameo-renderer lost its worker") }
        volunteerForTheOOMKiller()
        // Opens /proc/self/status, which no later step allows.
        guard cameo_report_crashes() == 0 else { Refusal.end("cameo-renderer cannot open /proc/self/status") }
        // Loads libvips and its modules; only the calling thread remains afterwards.
        guard VipsLibrary.start(allowing: arguments.allowedFormats) else {
            Refusal.end("cameo-renderer cannot initialise libvips")
        }
        for format in arguments.allowedFormats where !VipsLibrary.decodes(format) {
            Refusal.end("cameo-renderer cannot decode \(format.name): this libvips has no loader for it")
        }
        return LockDown.begin { limit(arguments) }
    }

    /// If memory runs out, the kernel kills a renderer before its worker, which costs one attempt (proc(5),
    /// oom_score_adj). Without /proc the renderer is as likely a victim as any process.
    private static func volunteerForTheOOMKiller() {
        guard let file = fopen("/proc/self/oom_score_adj", "we") else { return }
        defer { fclose(file) }
        fputs("1000", file)
    }

    private static func limit(_ arguments: RendererArguments) {
        // A renderer writes no files: a write to one fails instead of ending the process.
        signal(SIGXFSZ, SIG_IGN)
        // No core dump. If core_pattern is a pipe, Linux ignores every limit but 1 (fs/coredump.c), and a dump of this
        // address space takes seconds. Under a hard limit of 0 this limit cannot be set, and 0 stays.
        var core = rlimit(rlim_cur: 1, rlim_max: 1)
        setrlimit(Int32(RLIMIT_CORE.rawValue), &core)
        // RLIMIT_NPROC is left alone: it counts all processes of the user, including the worker and its other children.
        // The system call filter allows new threads only, and the worker kills a renderer that has too many (threads
        // that share one stack take no address space).
        let limits: [(resource: __rlimit_resource, value: UInt64)] = [
            (RLIMIT_AS, UInt64(arguments.memoryLimitBytes)), (RLIMIT_FSIZE, 0), (RLIMIT_NOFILE, 32),
        ]
        for limit in limits {
            guard cameo_lower_limit(Int32(limit.resource.rawValue), limit.value) == 0 else {
                Refusal.end("cameo-renderer cannot set its limits")
            }
        }
    }
}
