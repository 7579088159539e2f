internal import CLinux
internal import CameoModel
internal import CameoRenderMessages
internal import CameoSystem
internal import Glibc

/// One `cameo-renderer` process. It belongs to the thread that spawned it, and is killed and reaped at the latest when
/// its owner drops it.
struct RendererChild: ~Copyable {
    let pid: pid_t
    let socket: OpenFile
    /// A descriptor that is readable once the process has ended (pidfd_open).
    private let process: OpenFile
    var errors: ErrorTail
    /// What the renderer said of itself, set by ``greet()`` once the child is ready for jobs.
    private(set) var greeting: HelloMessage?
    /// The pictures whose jobs it was sent.
    var pictures = 0
    /// The credentials' scopes of the pictures that it has seen: a compromised renderer could leak them to others.
    var scopes: Set<RequestScope> = []
    private var hello = ReplyReader(expecting: nil)
    private var end: ChildEnd?
    /// Known after it was reaped.
    private var totalProcessorTime: Duration?
    /// The peak resident memory, known after it was reaped; 0 if the kernel cannot tell it from this process's.
    private(set) var peakResidentBytes = 0
    /// This process's peak at the spawn; see ``reap()``.
    private let inheritedPeakKibibytes: Int
    private let requiresSandbox: Bool

    /// The whole environment. Two malloc arenas keep memory flat; Swift's backtracer would run past the deadline.
    private static let environment = ["MALLOC_ARENA_MAX=2", "VIPS_CONCURRENCY=1", "SWIFT_BACKTRACE=enable=no"]

    /// Starts the process, which sends its hello message when it is ready, after about 0.1 s.
    init(_ configuration: RendererConfiguration) throws(Errno) {
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
            CStrings.withPointers(to: Self.environment) { envp in
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
            Self.end(pid)
            throw error
        }
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        inheritedPeakKibibytes = usage.ru_maxrss
        self.pid = pid
        self.process = OpenFile(adopting: process)
        self.socket = socket
        self.errors = ErrorTail(pipe: errors)
        requiresSandbox = configuration.requiresSandbox
    }

    deinit { if end == nil { Self.end(pid) } }

    private static func end(_ pid: pid_t) {
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    /// The descriptor to poll for standard error; nil once the child has closed it.
    var errorDescriptor: Int32? { errors.isOpen ? errors.pipe.descriptor : nil }

    /// Reads what has arrived of the hello message, and returns whether the child is ready.
    ///
    /// - Throws: if the child ended, has another version than this worker, or lacks a required layer of the sandbox.
    mutating func greet() throws(MalformedMessage) -> Bool {
        guard greeting == nil else { return true }
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
            greeting = message
            return true
        case .complete:
            throw MalformedMessage("its first message is not a hello")
        case .ended:
            throw MalformedMessage("it ended during its start")
        }
    }

    /// The thread limit. Decoders and encoders start as many threads as there are cores, some of them twice.
    private static let maximumThreads = max(64, 4 * RenderAttempt.cores)

    /// Whether it has more threads than any picture needs. Threads that share a stack take no address space, and
    /// RLIMIT_NPROC counts the worker's threads too, so this frequent check is the limit. The link count of the task
    /// folder is the number of threads plus two, as for any folder of folders (proc(5)).
    var hasTooManyThreads: Bool {
        var folder = stat()
        return stat("/proc/\(pid)/task", &folder) == 0 && folder.st_nlink - 2 > Self.maximumThreads
    }

    func checkThreads() throws(MalformedMessage) {
        guard hasTooManyThreads else { return }
        throw MalformedMessage("it has more than \(Self.maximumThreads) threads")
    }

    /// The processor time of all its threads so far, or until its end; nil if it is not known.
    var processorTime: Duration? {
        guard end == nil else { return totalProcessorTime }
        var clock: clockid_t = 0
        var used = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &used) == 0 else { return nil }
        return .seconds(used.tv_sec) + .nanoseconds(used.tv_nsec)
    }

    /// Limits its processor time to this much more than it has used so far, as a backstop behind the deadline.
    func allow(processorSeconds seconds: Int) {
        var limit = rlimit()
        guard let used = processorTime, getrlimit(Int32(RLIMIT_CPU.rawValue), &limit) == 0 else { return }
        // A soft limit above the inherited hard limit would be refused, and then no limit would be set.
        let hard = UInt64(limit.rlim_max)
        _ = cameo_limit_cpu_seconds(pid, min(UInt64(Int(used.components.seconds) + seconds), hard), hard)
    }

    /// Sends SIGKILL and returns how the child ended; idempotent.
    @discardableResult
    mutating func killAndReap() -> ChildEnd {
        if end == nil { kill(pid, SIGKILL) }
        return reap()
    }

    /// Has it note what it was doing, if it can, and end.
    mutating func abortAndReap() {
        if end == nil { kill(pid, SIGABRT) }
        _ = reap()
    }

    /// Waits for the end of a child that was killed or has closed its socket. One that only closed its socket is killed
    /// after a second.
    mutating func reap() -> ChildEnd {
        if let end { return end }
        var watch = PollSet(process.descriptor)
        watch.wait(milliseconds: 1_000)
        if !watch.isReady(process.descriptor) { kill(pid, SIGKILL) }
        var status: Int32 = 0
        var result: pid_t
        var usage = rusage()
        repeat { result = wait4(pid, &status, 0, &usage) } while result < 0 && errno == EINTR
        // posix_spawn lends the child this process's memory until exec, and Linux counts it as the child's (exec_mmap
        // in fs/exec.c), so only a peak above this process's own at that time is known to be the child's.
        if result == pid, usage.ru_maxrss > inheritedPeakKibibytes { peakResidentBytes = usage.ru_maxrss << 10 }
        if result == pid {
            let (user, system) = (usage.ru_utime, usage.ru_stime)
            totalProcessorTime =
                .seconds(user.tv_sec + system.tv_sec) + .microseconds(user.tv_usec + system.tv_usec)
        }
        let found = result == pid ? ChildEnd(waitStatus: status) : .unknown
        errors.drain()
        end = found
        return found
    }
}

/// The tail of a child's standard error. The pipe is always drained, so that the child never blocks.
struct ErrorTail {
    private static let keptBytes = 2_048
    /// The reads of 4 KiB per drain: a pipe holds 64 KiB (pipe(7)).
    private static let readsPerDrain = 16

    let pipe: OpenFile
    private(set) var isOpen = true
    private var bytes: [UInt8] = []

    /// - Parameter pipe: the read end, non-blocking.
    init(pipe: OpenFile) { self.pipe = pipe }

    /// Reads what is available, up to a bound that keeps the caller responsive: a child may write endlessly.
    mutating func drain() {
        var part = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<Self.readsPerDrain where isOpen {
            let count = read(pipe.descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count != 0 else { return isOpen = false }
            guard count > 0 else { return }
            bytes.append(contentsOf: part.prefix(count))
            if bytes.count > Self.keptBytes { bytes.removeFirst(bytes.count - Self.keptBytes) }
        }
    }

    private var lines: [Substring] { String(decoding: bytes, as: UTF8.self).lines.filter { !$0.isEmpty } }

    /// The last lines joined into one, as the child wrote them; empty if it wrote nothing.
    var text: String { lines.filter { !$0.hasPrefix(DeathNote.prefix) }.suffix(3).joined(separator: "; ") }

    /// The note that the child's crash handler left, if it ran.
    var deathNote: DeathNote? { lines.reversed().lazy.compactMap(DeathNote.init).first }
}

/// How a process ended, according to wait(2).
enum ChildEnd: Hashable, CustomStringConvertible {
    case exited(Int32)
    case killed(signal: Int32)
    /// Another part of the program has reaped it.
    case unknown

    init(waitStatus status: Int32) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }

    /// Whether somebody sent it a signal that ends programs, which no picture causes.
    var isByOthers: Bool {
        guard case .killed(let signal) = self else { return false }
        return [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL].contains(signal)
    }

    var description: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .killed(let signal): Self.name(of: signal)
        case .unknown: "unknown cause"
        }
    }

    private static func name(of signal: Int32) -> String {
        let names: [Int32: String] = [
            SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE",
            SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGXCPU: "SIGXCPU",
            SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS", SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}

/// The line that a crashing child writes before it ends (see `cameo_report_crashes`).
struct DeathNote: Hashable {
    static let prefix = "cameo-death "

    /// The `errno` of the crashing thread.
    let errno: Int32
    /// The peak address space (VmPeak) in bytes.
    let peakBytes: Int
    /// The index of the rendition that was being made; nil: none was.
    let rendition: Int?

    /// - Parameter line: a line of standard error; the result is nil unless it is a death note.
    init?(_ line: Substring) {
        guard line.hasPrefix(Self.prefix) else { return nil }
        let words = line.dropFirst(Self.prefix.count).split(separator: " ").map { $0.split(separator: "=") }
        guard words.map(\.first) == ["errno", "VmPeak", "rendition"], words.allSatisfy({ $0.count == 2 }),
            let errno = Int32(words[0][1]), let kibibytes = Int(words[1][1]), (0...1 << 40).contains(kibibytes),
            let number = Int(words[2][1]), number >= 0
        else { return nil }
        self.errno = errno
        rendition = number == 0 ? nil : number - 1
        peakBytes = kibibytes << 10
    }
}

/// The memory of a living process, from /proc/PID/status (proc(5)).
struct ProcessMemory {
    /// The peak address space (VmPeak) in bytes.
    let peakBytes: Int
    /// The resident memory (VmRSS) in bytes.
    let residentBytes: Int

    /// Nil if the process is gone or is a zombie, which has no memory left.
    init?(of pid: pid_t) {
        let file = open("/proc/\(pid)/status", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        // This runs twice a picture, and reads as far as it has to.
        let found: (Int, Int)? = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 8_192) { text in
            text[max(0, read(file, text.baseAddress, text.count - 1))] = 0
            guard let text = text.baseAddress, let peak = Self.kibibytes("\nVmPeak:", in: text),
                let resident = Self.kibibytes("\nVmRSS:", in: text)
            else { return nil }
            return (peak, resident)
        }
        guard let (peak, resident) = found else { return nil }
        peakBytes = peak << 10
        residentBytes = resident << 10
    }

    /// The name begins with the end of the line before: the text of a line may be the process's choice.
    private static func kibibytes(_ name: String, in text: UnsafePointer<CChar>) -> Int? {
        strstr(text, name).map { strtol($0 + name.utf8.count, nil, 10) }
    }
}
