internal import CLinux
internal import CameoModel
internal import CameoRenderMessages
internal import Glibc

/// One `cameo-renderer` process. It belongs to the thread that spawned it and is killed and reaped at the latest when
/// its owner lets go of it.
struct RendererChild: ~Copyable {
    let pid: pid_t
    let socket: OpenFile
    /// Readable once the process has ended (pidfd_open).
    private let process: OpenFile
    var errors: ErrorTail
    /// Set by ``greet()``, once it is ready for jobs.
    private(set) var version: String?
    /// Of its lock-down, as its hello told; nil before.
    private(set) var sandbox: SandboxReport?
    private(set) var pictures = 0
    /// Whose pictures it has seen; a renderer that was taken over could show them to others.
    var scopes: Set<RequestScope> = []
    private var hello = ReplyReader(expecting: .noPicture)
    private var end: ChildEnd?
    /// The most resident memory that it had, once it was reaped; 0 where the kernel cannot tell it from this process's.
    private(set) var peakResidentBytes = 0
    /// See ``reap()``.
    private let inheritedPeakKibibytes: Int
    private let requiresSandbox: Bool

    /// Its whole environment. Two malloc arenas keep its memory flat; Swift's backtracer would outlive its deadline.
    private static let environment = ["MALLOC_ARENA_MAX=2", "VIPS_CONCURRENCY=1", "SWIFT_BACKTRACE=enable=no"]

    private init(
        pid: pid_t,
        process: OpenFile,
        socket: OpenFile,
        errors: ErrorTail,
        requiresSandbox: Bool
    ) {
        self.pid = pid
        self.process = process
        self.socket = socket
        self.errors = errors
        self.requiresSandbox = requiresSandbox
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        inheritedPeakKibibytes = usage.ru_maxrss
    }

    /// Starts the process; it says hello when it is ready, after about a tenth of a second.
    static func spawn(_ configuration: RendererConfiguration) throws(Errno) -> RendererChild {
        var sockets: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &sockets) == 0 else {
            throw Errno()
        }
        let (socket, childSocket) = (OpenFile(adopting: sockets[0]), OpenFile(adopting: sockets[1]))
        var pipe: [Int32] = [-1, -1]
        guard cameo_pipe_nonblocking_read(&pipe) == 0 else { throw Errno() }
        let (errors, childErrors) = (OpenFile(adopting: pipe[0]), OpenFile(adopting: pipe[1]))

        let arguments = RendererArguments(
            parent: getpid(),
            memoryLimitBytes: configuration.memoryLimitBytes,
            allowedFormats: configuration.allowedFormats
        )
        var pid: pid_t = 0
        let result = CStrings.withPointers(to: [configuration.executable] + arguments.words) { argv in
            CStrings.withPointers(to: environment) { envp in
                cameo_spawn_with_socket(
                    &pid,
                    configuration.executable,
                    argv,
                    envp,
                    childSocket.descriptor,
                    childErrors.descriptor
                )
            }
        }
        guard result == 0 else { throw Errno(result) }
        let process = cameo_pidfd_open(pid)
        guard process >= 0 else {
            let error = Errno()
            kill(pid, SIGKILL)
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            throw error
        }
        return RendererChild(
            pid: pid,
            process: OpenFile(adopting: process),
            socket: socket,
            errors: ErrorTail(pipe: errors),
            requiresSandbox: configuration.requiresSandbox
        )
    }

    deinit {
        guard end == nil else { return }
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    /// For polling; nil once the child has closed its standard error.
    var errorDescriptor: Int32? { errors.isOpen ? errors.pipe.descriptor : nil }

    /// Takes in what has arrived of its hello.
    ///
    /// - Returns: whether it is ready.
    /// - Throws: if it ended, is of another version than this worker, or lacks a layer of the sandbox that is required.
    mutating func greet() throws(MalformedMessage) -> Bool {
        guard version == nil else { return true }
        errors.drain()
        switch try hello.read(from: socket.descriptor) {
        case .incomplete:
            return false
        case .complete(.hello(let message)):
            guard message.protocolVersion == RendererProtocol.version else {
                throw MalformedMessage("it speaks protocol \(message.protocolVersion), not \(RendererProtocol.version)")
            }
            guard !requiresSandbox || message.sandbox.missing.isEmpty else {
                let layers = message.sandbox.missing.joined(separator: " and ")
                throw MalformedMessage("its sandbox lacks \(layers), which this kernel does not grant")
            }
            version = message.rendererVersion
            sandbox = message.sandbox
            return true
        case .complete:
            throw MalformedMessage("it did not say hello")
        case .ended:
            throw MalformedMessage("it ended at its start")
        }
    }

    /// A job is on its way to it.
    mutating func beginPicture() { pictures += 1 }

    /// Decoders and encoders start as many threads as there are cores, some of them twice.
    private static let maximumThreads = max(64, 4 * RenderAttempt.cores)

    /// Whether it has more threads than any picture needs. Threads that share a stack cost no address space, and
    /// RLIMIT_NPROC counts the worker's too: this is their limit, and so it is looked at often. The links of the folder of
    /// its tasks are its threads and the folder's own two names, as those of any folder of folders (proc(5)).
    var hasTooManyThreads: Bool {
        var folder = stat()
        return stat("/proc/\(pid)/task", &folder) == 0 && folder.st_nlink - 2 > Self.maximumThreads
    }

    func checkThreads() throws(MalformedMessage) {
        guard hasTooManyThreads else { return }
        throw MalformedMessage("it has more than \(Self.maximumThreads) threads")
    }

    /// What it has used so far, over all of its threads; nil once it is gone.
    var processorTime: Duration? {
        var clock: clockid_t = 0
        var used = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &used) == 0 else { return nil }
        return .seconds(used.tv_sec) + .nanoseconds(used.tv_nsec)
    }

    /// Lets it use this much more processor time than it has used so far, as a backstop behind the deadline.
    func allow(processorSeconds seconds: Int) {
        var limit = rlimit()
        guard let used = processorTime, getrlimit(Int32(RLIMIT_CPU.rawValue), &limit) == 0 else { return }
        // A soft limit over the hard one, which it has from this process, would be refused, and none set.
        let hard = UInt64(limit.rlim_max)
        _ = cameo_limit_cpu_seconds(pid, min(UInt64(Int(used.components.seconds) + seconds), hard), hard)
    }

    /// SIGKILL, and its end; idempotent.
    @discardableResult
    mutating func killAndReap() -> ChildEnd {
        if end == nil { kill(pid, SIGKILL) }
        return reap()
    }

    /// Waits for its end, which is near: it was killed or has closed its socket. One that only closed its socket is
    /// killed after a second.
    mutating func reap() -> ChildEnd {
        if let end { return end }
        var watch = Watch()
        watch.add(process.descriptor)
        watch.wait(milliseconds: 1_000)
        if !watch.isReady(process.descriptor) { kill(pid, SIGKILL) }
        var status: Int32 = 0
        var result: pid_t
        var usage = rusage()
        repeat { result = wait4(pid, &status, 0, &usage) } while result < 0 && errno == EINTR
        // posix_spawn lends the child this process's memory until exec, and Linux counts it as the child's (exec_mmap in
        // fs/exec.c): only what is over this process's own peak at that time is known to be the child's.
        if result == pid, usage.ru_maxrss > inheritedPeakKibibytes { peakResidentBytes = usage.ru_maxrss << 10 }
        let found = result == pid ? ChildEnd(waitStatus: status) : .unknown
        errors.drain()
        end = found
        return found
    }
}
