internal import CameoModel
package import CameoSystem
package import Foundation
internal import Glibc
internal import Synchronization

// DESIGN. Foundation's Process notices the end of its child by a socket that grandchildren inherit, so a child that
// leaves one behind never "ends". Here waitid tells. Output goes to memory files, not to pipes: no pipe can fill up,
// and a grandchild that keeps one open holds up nobody. Waiting blocks, so it has a thread of its own. A child dies
// with this process, also if that crashes: the kernel kills it once the thread that started it is gone
// (PR_SET_PDEATHSIG of prctl(2)), which is why the thread that waits for it has started it.

/// A running program, the leader of a process group of its own.
package final class ChildProcess: Sendable {
    /// How a program ended.
    package enum Ending: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    private enum State {
        case running(waiting: [CheckedContinuation<Ending, Never>])
        case ended(Ending)
    }

    /// What its thread shares with those who wait for it.
    private final class Life: Sendable {
        let state = Mutex(State.running(waiting: []))

        func waitForEnd(of process: pid_t) {
            var info = siginfo_t()
            while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            let (ending, waiting) = state.withLock { state -> (Ending, [CheckedContinuation<Ending, Never>]) in
                var status: Int32 = 0
                while waitpid(process, &status, 0) == -1, errno == EINTR {}
                let signal = status & 0x7F
                let ending = signal == 0 ? Ending.exited(status >> 8 & 0xFF) : .signalled(signal)
                guard case .running(let waiting) = state else { return (ending, []) }
                state = .ended(ending)
                return (ending, waiting)
            }
            for continuation in waiting { continuation.resume(returning: ending) }
        }
    }

    package let processID: Int32
    private let output: OpenFile
    private let errorOutput: OpenFile
    private let life: Life

    /// Starts a program; the parameters are those of ``run(_:_:input:environment:currentDirectory:timeout:)``.
    package init(
        _ executable: String,
        _ arguments: [String] = [],
        input: Data? = nil,
        environment: [String: String?] = [:],
        currentDirectory: URL? = nil
    ) throws(Errno) {
        // setpriv would tell it only by its exit status.
        if executable.hasPrefix("/"), access(executable, X_OK) != 0 { throw Errno() }
        let (output, errorOutput, life) = (try OpenFile.memory(), try OpenFile.memory(), Life())
        let input = try input.map { data throws(Errno) in try OpenFile.memory(containing: data) }
        let words = ["setpriv", "--pdeathsig", "KILL", "--", executable] + arguments
        let isStarted = DispatchSemaphore(value: 0)
        let start = Mutex<Result<pid_t, Errno>>(.failure(Errno(ECHILD)))
        Thread.detachNewThread {
            let started = ChildProcess.spawn(words, (input, output, errorOutput), environment, currentDirectory)
            start.withLock { $0 = started }
            isStarted.signal()
            if case .success(let process) = started { life.waitForEnd(of: process) }
        }
        isStarted.wait()
        processID = try start.withLock { $0 }.get()
        (self.output, self.errorOutput, self.life) = (output, errorOutput, life)
    }

    /// Starts a program with these standard files, as the leader of a process group.
    static func spawn(
        _ words: [String],
        _ files: (input: OpenFile?, output: OpenFile, errorOutput: OpenFile),
        _ environment: [String: String?],
        _ currentDirectory: URL?
    ) -> Result<pid_t, Errno> {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input = files.input {
            lseek(input.descriptor, 0, SEEK_SET)
            posix_spawn_file_actions_adddup2(&actions, input.descriptor, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, files.output.descriptor, 1)
        posix_spawn_file_actions_adddup2(&actions, files.errorOutput.descriptor, 2)
        _ = SpawnExtensions.closeFrom?(&actions, 3)
        if let currentDirectory {
            _ = SpawnExtensions.changeDirectory?(&actions, currentDirectory.path(percentEncoded: false))
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var variables = ProcessInfo.processInfo.environment
        for (name, value) in environment { variables[name] = value }
        var started: pid_t = 0
        let code = CStrings.withPointers(to: words) { arguments in
            CStrings.withPointers(to: variables.map { "\($0)=\($1)" }) { variables in
                posix_spawnp(&started, words[0], &actions, &attributes, arguments, variables)
            }
        }
        return code == 0 ? .success(started) : .failure(Errno(code))
    }

    /// Waits for its end, however often it is asked. Cancelling the task, as a test's time limit does, kills its process
    /// group: nothing waits for ever.
    package var ending: Ending {
        get async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let ending = life.state.withLock { state -> Ending? in
                        switch state {
                        case .ended(let ending): return ending
                        case .running(let waiting):
                            state = .running(waiting: waiting + [continuation])
                            return nil
                        }
                    }
                    if let ending { continuation.resume(returning: ending) }
                }
            } onCancel: {
                killGroup()
            }
        }
    }

    /// What it has written so far, also while it runs.
    package var standardOutput: Data { Self.contents(of: output) }
    package var standardError: Data { Self.contents(of: errorOutput) }

    /// Sends a signal; false when it has ended.
    @discardableResult
    package func send(_ signal: Int32) -> Bool {
        // Under the lock, since the process is reaped under it too: the number cannot belong to another by now.
        life.state.withLock { state in
            guard case .running = state else { return false }
            return kill(processID, signal) == 0
        }
    }

    /// SIGKILL to it and to everything that it started in its group; false when it has ended.
    @discardableResult
    package func killGroup() -> Bool { sendGroup(SIGKILL) }

    /// Sends a signal to it and to everything that it started in its group; false when it has ended.
    @discardableResult
    package func sendGroup(_ signal: Int32) -> Bool {
        life.state.withLock { state in
            guard case .running = state else { return false }
            return kill(-processID, signal) == 0
        }
    }

    /// Reads by position: the offset is shared with the program, which writes at it.
    static func contents(of file: OpenFile) -> Data {
        Data(file.bytes(in: 0..<(file.status().map { Int($0.st_size) } ?? 0)))
    }
}

/// Functions of glibc that its Swift module does not show (they need _GNU_SOURCE).
private enum SpawnExtensions {
    typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t>

    static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: (@convention(c) (Actions, Int32) -> Int32).self)
    }
    static let changeDirectory = dlsym(nil, "posix_spawn_file_actions_addchdir_np").map {
        unsafeBitCast($0, to: (@convention(c) (Actions, UnsafePointer<CChar>) -> Int32).self)
    }
}
