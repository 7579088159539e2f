import CameoModel
import CameoRenderMessages
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// Each layer of the sandbox of a renderer and of `cameo-frames`, attacked from inside as a picture's smuggled code
/// would. Every attempt is followed by a source that is served on the same slot (``Jail/attempt(_:by:)``).
@Suite(.timeLimit(.minutes(10)))
struct SandboxTests {
    private static let denied = ["was refused: \(EPERM) \(Errno(EPERM))", "was refused: \(EACCES) \(Errno(EACCES))"]
    private static let done = "was done"

    private func expectDenied(_ answer: String, _ attempt: String) {
        #expect(Self.denied.contains(answer), "\(attempt) \(answer)")
    }

    private func expectAnswer(_ answer: String, _ expected: String) {
        #expect(answer == expected)
    }

    // MARK: - Files

    /// Blocked by both layers and by each alone, so that a mistake in one is not fatal.
    @Test(arguments: Jail.Program.all, TestLength.few(["", "Landlock", "seccomp"], 1))
    func nothingIsWritten(by program: Jail.Program, without layer: String) async throws {
        let folder = try TemporaryFolder()
        let old = try folder.write(Data("old".utf8), to: "old")
        try await Jail.with(program, without: layer) { jail in
            for (flags, name) in [
                (O_WRONLY, "old"), (O_RDWR, "old"), (O_WRONLY | O_TRUNC, "old"), (O_WRONLY | O_APPEND, "old"),
                (O_WRONLY | O_CREAT, "new"), (O_RDWR | O_CREAT | O_EXCL, "new"), (O_RDONLY | O_CREAT, "new"),
                // O_TMPFILE, which Glibc's module does not show.
                (O_WRONLY | O_DIRECTORY | 0o20_000_000, "."),
            ] {
                let attempt = "open \(flags) \(folder.path(name))"
                expectDenied(try await jail.attempt(attempt), attempt)
            }
        }
        #expect(try String(contentsOfFile: old, encoding: .utf8) == "old")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["old"])
    }

    @Test(arguments: Jail.Program.all, ["", "seccomp"])
    func noFileIsReadButARenderersFonts(by program: Jail.Program, without layer: String) async throws {
        let folder = try TemporaryFolder()
        let secret = try folder.write(Data("secret".utf8), to: "secret")
        try await Jail.with(program, without: layer) { jail in
            for path in [
                secret, folder.path, "/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/self/mem",
                "/proc/\(getpid())/environ", "/usr/bin/true", "/", "/usr/share/fonts/../../bin/true",
            ] {
                expectDenied(try await jail.attempt("open \(O_RDONLY) \(path)"), path)
            }
            for attempt in [
                "open \(O_RDONLY) /etc/fonts/fonts.conf", "open \(O_RDONLY | O_DIRECTORY) /usr/share/fonts",
            ] {
                let answer = try await jail.attempt(attempt)
                if program == .renderer { expectAnswer(answer, Self.done) } else { expectDenied(answer, attempt) }
            }
        }
    }

    /// Size, owner and times of a file, and the existence of files: even without Landlock, which does not restrict
    /// them, they are available only by opening a file for reading.
    @Test(.enabled(if: TestLength.isWhole, "--all"), arguments: Jail.Program.all)
    func whatIsNotReadIsNotLookedAtEither(by program: Jail.Program) async throws {
        let folder = try TemporaryFolder()
        let secret = try folder.write(Data("secret".utf8), to: "secret")
        let link = folder.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: secret)
        let (here, emptyPath, noFollow) = (AT_FDCWD, 0x1000, AT_SYMLINK_NOFOLLOW)
        var looks = [
            "newfstatat \(here) PATH BUFFER 0", "newfstatat \(here) PATH BUFFER \(emptyPath)",
            "newfstatat \(here) PATH BUFFER \(noFollow)", "newfstatat 3 PATH BUFFER 0", "faccessat \(here) PATH 0",
            "faccessat \(here) PATH \(R_OK)", "statfs PATH BUFFER", "statx \(here) PATH 0 0 BUFFER",
            "getxattr PATH BUFFER BUFFER 64", "name_to_handle_at \(here) PATH BUFFER BUFFER 0",
        ]
        var links = ["readlinkat \(here) PATH BUFFER 64"]
        #if arch(x86_64)
            looks += ["stat PATH BUFFER", "lstat PATH BUFFER", "access PATH 0", "access PATH \(R_OK)"]
            links += ["readlink PATH BUFFER 64"]
        #endif
        try await Jail.with(program) { jail in
            for look in looks {
                let paths = [secret, "/etc/shadow", "/etc/passwd", "/root", "/proc/self/status"]
                for path in program == .renderer ? paths : [secret, "/root"] {
                    expectDenied(try await jail.attempt("look \(look) \(path)"), "\(look) \(path)")
                }
            }
            // O_PATH, which Landlock does not count as reading.
            expectDenied(try await jail.attempt("open \(0o10_000_000) \(secret)"), "O_PATH")
            for look in links {
                let answer = try await jail.attempt("look \(look) \(link)")
                expectAnswer(answer, "was refused: \(EINVAL) \(Errno(EINVAL))")
            }
            // What remains visible: that a name does not exist.
            let missing = try await jail.attempt("look \(looks[0]) \(folder.path("none"))")
            expectAnswer(missing, "was refused: \(ENOENT) \(Errno(ENOENT))")
        }
    }

    /// The calls that fontconfig makes, and glibc on an open file.
    @Test func whatIsReadIsLookedAt() async throws {
        try await Jail.with { jail in
            for path in ["/etc/fonts/fonts.conf", "/usr/share/fonts"] {
                expectAnswer(try await jail.attempt("look newfstatat \(AT_FDCWD) PATH BUFFER 0 \(path)"), Self.done)
                expectAnswer(try await jail.attempt("look faccessat \(AT_FDCWD) PATH \(R_OK) \(path)"), Self.done)
                expectDenied(try await jail.attempt("look faccessat \(AT_FDCWD) PATH \(W_OK) \(path)"), path)
            }
            // A source, examined by an empty path.
            expectAnswer(try await jail.attempt("look newfstatat 5 0 BUFFER \(0x1000) x"), Self.done)
            expectAnswer(
                try await jail.attempt("look newfstatat 999 0 BUFFER \(0x1000) x"),
                "was refused: \(EBADF) \(Errno(EBADF))"
            )
        }
    }

    /// A control, so that the test above proves Landlock and not another reason.
    @Test func theSecretIsReadableWithoutLandlock() async throws {
        let folder = try TemporaryFolder()
        let secret = try folder.write(Data("secret".utf8), to: "secret")
        try await Jail.with(without: "Landlock") { jail in
            expectAnswer(try await jail.attempt("open \(O_RDONLY) \(secret)"), Self.done)
        }
    }

    @Test(arguments: Jail.Program.all)
    func openFileIsNotWrittenEither(by program: Jail.Program) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Data("CAMEO-TEST-TRY append".utf8), to: "source")
        let descriptor = open(path, O_RDWR | O_APPEND | O_CLOEXEC)
        #expect(descriptor >= 0)
        let source = OpenFile(adopting: descriptor)
        try await Jail.with(program) { jail in
            expectAnswer(try await jail.attempt("", by: source), "was refused: \(EFBIG) \(Errno(EFBIG))")
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "CAMEO-TEST-TRY append")
    }

    // MARK: - The network and other processes

    @Test(arguments: Jail.Program.all, [AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET])
    func noSocketIsOpened(by program: Jail.Program, _ domain: Int32) async throws {
        try await Jail.with(program) { jail in
            for type in [SOCK_STREAM, SOCK_DGRAM, SOCK_RAW] {
                let attempt = "call socket \(domain) \(type.rawValue) 0"
                expectDenied(try await jail.attempt(attempt), attempt)
            }
            expectDenied(try await jail.attempt("call socketpair \(domain) 1 0 0"), "socketpair")
        }
    }

    @Test(arguments: Jail.Program.all)
    func itsOwnSocketLeadsNowhereElse(of program: Jail.Program) async throws {
        try await Jail.with(program) { jail in
            for attempt in [
                "connect /run/other.sock", "call bind 3 0 0", "call listen 3 1",
                "call accept 3 0 0",
                "call setsockopt 3 1 2 0 0",
            ] {
                expectDenied(try await jail.attempt(attempt), attempt)
            }
        }
    }

    /// A kernel with Landlock 4 and 6 (Linux 6.7 and 6.12) forbids these itself.
    @Test func networkAndSignalsAreClosedByLandlockToo() async throws {
        try await Jail.with(without: "seccomp") { jail in
            _ = try await jail.pool.render(Rendition(width: 8), of: Pictures.plain(30, 20))
            guard let sandbox = jail.pool.sandbox, sandbox.landlockVersion >= 6 else { return }
            for attempt in ["tcp 9", "call kill \(getpid()) 0"] {
                expectDenied(try await jail.attempt(attempt), attempt)
            }
        }
        try await Jail.with(without: "Landlock,seccomp") { jail in
            expectAnswer(try await jail.attempt("tcp 9"), "was refused: \(ECONNREFUSED) \(Errno(ECONNREFUSED))")
            expectAnswer(try await jail.attempt("call kill \(getpid()) 0"), Self.done)
        }
    }

    @Test(arguments: Jail.Program.all)
    func noProcessIsStarted(by program: Jail.Program) async throws {
        let newProcess = Int(SIGCHLD)
        var attempts = [
            "spawn /bin/true", "call execve 0 0 0", "call execveat 0 0 0 0 0",
            "call clone \(newProcess)",
            // CLONE_NEWUSER; CLONE_VFORK | CLONE_VM; a thread in a network of its own: CLONE_NEWNET with CLONE_THREAD.
            "call clone \(newProcess | 0x1000_0000)", "call clone \(newProcess | 0x4100)", "call clone \(0x4001_0000)",
        ]
        #if arch(x86_64)
            attempts += ["call fork", "call vfork"]
        #endif
        try await Jail.with(program) { jail in
            for attempt in attempts { expectDenied(try await jail.attempt(attempt), attempt) }
        }
    }

    @Test func threadsStart() async throws {
        try await Jail.with { jail in
            expectAnswer(try await jail.attempt("threads 4"), Self.done)
            expectAnswer(try await jail.attempt("call clone3 0 0"), "was refused: \(ENOSYS) \(Errno(ENOSYS))")
        }
    }

    /// Blocked even without Landlock, which restricts signals and tracing itself.
    @Test(arguments: Jail.Program.all, ["", "Landlock"])
    func noProcessIsTouched(by program: Jail.Program, without layer: String) async throws {
        let worker = getpid()
        try await Jail.with(program, without: layer) { jail in
            for attempt in [
                "call kill \(worker) 0", "call kill -1 0", "call tgkill \(worker) \(worker) 0",
                "call tkill \(worker) 0", "call rt_sigqueueinfo \(worker) 0 0",
                "call pidfd_open \(worker) 0", "call pidfd_send_signal 3 0 0 0",
                "call fcntl 3 \(F_SETOWN) \(worker)", "call ptrace 16 \(worker) 0 0",
                "call process_vm_readv \(worker) 0 0 0 0 0", "call process_vm_writev \(worker) 0 0 0 0 0",
                "call prlimit64 \(worker) 9 0 0", "call setpriority 0 0 19",
            ] {
                expectDenied(try await jail.attempt(attempt), attempt)
            }
        }
    }

    /// Escapes that need no file and no process.
    @Test(arguments: Jail.Program.all)
    func theKernelHasNoOtherDoor(for program: Jail.Program) async throws {
        try await Jail.with(program) { jail in
            for attempt in [
                "call io_uring_setup 1 0", "call bpf 0 0 0", "call userfaultfd 0",
                "call memfd_create 0 0", "call unshare 0", "call mount 0 0 0 0 0",
                "call keyctl 0 0 0", "call perf_event_open 0 0 0 0 0", "call ioctl 3 21523 0",
                "call prctl 4 1 0 0 0", "call prlimit64 0 9 1 0", "call seccomp 1 0 0",
                "call personality 0", "call chdir 0", "call setuid 0",
                // 102 would be EINVAL without a filter, 100 is MADV_HWPOISON.
                "call openat2 -100 0 0 0", "call madvise 0 0 100", "call madvise 0 0 102",
            ] {
                expectDenied(try await jail.attempt(attempt), attempt)
            }
        }
    }

    @Test(.enabled(if: Videos.canBeTested))
    func noMemoryOfFramesBecomesCode() async throws {
        try await Jail.with(.frames) { jail in
            for attempt in [
                "code protected", "code mapped", "call mmap 0 4096 \(PROT_READ | PROT_EXEC) \(MAP_PRIVATE) 5 0",
            ] {
                expectDenied(try await jail.attempt(attempt), attempt)
            }
        }
    }

    /// libvips 8.14 compiles loops at run time into memory mapped for that; nothing else may become executable.
    @Test func memoryDoesNotBecomeCode() async throws {
        try await Jail.with { jail in
            expectDenied(try await jail.attempt("code protected"), "mprotect")
            // The source has the first number after the descriptors that are always open.
            let source = "call mmap 0 4096 \(PROT_READ | PROT_EXEC) \(MAP_PRIVATE) 5 0"
            expectDenied(try await jail.attempt(source), "mmap of the source")
            let picture = try await jail.pool.render(Rendition(width: 8), of: Pictures.plain(30, 20))
            let libvips = try #require(picture.rendererVersion.split(separator: "-").last)
            let answer = try await jail.attempt("code mapped")
            if libvips.split(separator: ".").compactMap({ Int($0) }).lexicographicallyPrecedes([8, 15]) {
                #expect(answer == Self.done)
            } else {
                expectDenied(answer, "mmap")
            }
        }
    }
}
