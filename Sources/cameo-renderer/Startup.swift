internal import CLinux
internal import CameoImaging
internal import CameoRenderMessages
internal import Glibc

/// What a renderer does before it sees a byte of any source, in the order that matters.
enum Startup {
    static func run(_ arguments: RendererArguments) {
        guard arguments.protocolVersion == RendererProtocol.version else {
            Refusal.end(
                "cameo-renderer speaks protocol version \(RendererProtocol.version), "
                    + "its worker \(arguments.protocolVersion): install both from one release"
            )
        }
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(RendererProtocol.socketDescriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 else {
            Refusal.end("cameo-renderer is started by cameo-worker")
        }
        guard cameo_die_with_parent(arguments.parent) == 0 else { Refusal.end("cameo-renderer lost its worker") }
        // Opens /proc/self/status, which no later step would allow.
        guard cameo_report_crashes() == 0 else { Refusal.end("cameo-renderer cannot open /proc/self/status") }
        // Loads libvips and its modules; leaves this one thread.
        guard VipsLibrary.start() else { Refusal.end("cameo-renderer cannot initialise libvips") }

        // The lock-down belongs here, after the last library was loaded and before the first source: Landlock (it binds
        // the calling thread only), then these limits, then seccomp.
        limit(arguments)
    }

    private static func limit(_ arguments: RendererArguments) {
        // Scratch files are none of a renderer's business: a write to one fails instead of ending the process.
        signal(SIGXFSZ, SIG_IGN)
        let limits: [(resource: __rlimit_resource, value: UInt64)] = [
            (RLIMIT_AS, UInt64(arguments.memoryLimitBytes)), (RLIMIT_CORE, 0), (RLIMIT_FSIZE, 0), (RLIMIT_NOFILE, 32),
        ]
        for limit in limits {
            guard cameo_lower_limit(Int32(limit.resource.rawValue), limit.value) == 0 else {
                Refusal.end("cameo-renderer cannot set its limits")
            }
        }
    }
}
