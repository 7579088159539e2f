internal import CLinux
internal import CameoModel
internal import CameoSystem
internal import Foundation
internal import Glibc

// DESIGN. A command runs without a shell, as the leader of a process group of its own. Its input is a sealed memory file, so
// that nobody has to feed it; what it writes to standard error comes through a pipe, of which only the end is kept. Waiting
// blocks, so each run has a thread, which waits for others when it has ended: there are as many as run at once.

/// Runs the command of a hook.
enum HookCommand {
    /// How many bytes of the end of standard error are kept.
    private static let tailBytes = 300
    /// How often a run checks for its cancellation, in milliseconds.
    private static let slice: Int64 = 100
    /// The concurrency of the hooks limits them.
    private static let threads = BlockingThreads(limit: .max, name: "cameo-hook") {}

    /// Runs a program with its arguments and the message on standard input.
    ///
    /// - Returns: why the delivery failed; nil if the command exited with 0.
    /// - Throws: `CancellationError` if the task is cancelled; the command's process group has been killed then.
    static func run(_ arguments: [String], input: Data, timeout: Duration) async throws -> String? {
        let trouble = await threads.run { _, isCancelled in runBlocking(arguments, input, timeout, isCancelled) }
        try Task.checkCancellation()
        return trouble ?? nil
    }

    private static func runBlocking(
        _ arguments: [String],
        _ input: Data,
        _ timeout: Duration,
        _ isCancelled: () -> Bool
    ) -> String? {
        let child: (process: pid_t, errors: OpenFile)
        do throws(Errno) {
            child = try start(arguments, input)
        } catch {
            return "the command cannot be started: \(error)"
        }
        let end = cameo_pidfd_open(child.process)
        defer { if end >= 0 { close(end) } }
        let deadline = cameo_monotonic_ms() + Int64(timeout.milliseconds)
        var tail: [UInt8] = []
        var isLate = false
        while true {
            var polled = [
                pollfd(fd: end, events: Int16(POLLIN), revents: 0),
                pollfd(fd: child.errors.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let left = deadline - cameo_monotonic_ms()
            poll(&polled, 2, Int32(clamping: max(0, min(left, slice))))
            // Once the pipe's other ends are closed, it is always ready: it is polled no more.
            read(child.errors.descriptor, into: &tail)
            if end >= 0, polled[0].revents != 0 { break }
            isLate = left <= 0
            if isLate || isCancelled() || end < 0 {
                kill(-child.process, SIGKILL)
                break
            }
            if polled[1].revents & Int16(POLLHUP) != 0 { poll(&polled, 1, Int32(clamping: max(0, min(left, slice)))) }
        }
        var status: Int32 = 0
        while waitpid(child.process, &status, 0) < 0, errno == EINTR {}
        read(child.errors.descriptor, into: &tail)
        if isLate { return "the command did not end within \(timeout)" }
        let signal = status & 0x7F
        if status == 0 { return nil }
        let last = String(decoding: tail, as: UTF8.self).lines.last { !$0.isEmpty }.map { ": \($0)" } ?? ""
        return signal == 0
            ? "the command exited with \(status >> 8 & 0xFF)\(last)" : "the command died of signal \(signal)"
    }

    private static func start(
        _ arguments: [String],
        _ input: Data
    ) throws(Errno) -> (process: pid_t, errors: OpenFile) {
        let message = try OpenFile.memory(containing: input)
        lseek(message.descriptor, 0, SEEK_SET)
        var ends: [Int32] = [-1, -1]
        guard cameo_pipe_nonblocking_read(&ends) == 0 else { throw Errno() }
        let (errors, other) = (OpenFile(adopting: ends[0]), OpenFile(adopting: ends[1]))
        let variables = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        var process: pid_t = 0
        let code = CStrings.withPointers(to: arguments) { argv in
            CStrings.withPointers(to: variables) { environment in
                cameo_spawn_command(&process, argv[0], argv, environment, message.descriptor, other.descriptor)
            }
        }
        guard code == 0 else { throw Errno(code) }
        return (process, errors)
    }

    private static func read(_ descriptor: Int32, into tail: inout [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = Glibc.read(descriptor, &buffer, buffer.count), count > 0 {
            tail = (tail + buffer[..<count]).suffix(tailBytes)
        }
    }
}
