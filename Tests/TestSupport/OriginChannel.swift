internal import CameoModel
internal import CameoSystem
internal import Foundation
internal import Glibc
internal import Synchronization

/// A child process that is asked by a line on its input and answers by a line on its output. Its output is read by a
/// thread of its own, since that blocks; its input is closed with the last reference, and with this process however
/// that ends, which the child takes as its end. What it writes to its standard error goes to a file in memory: it holds
/// open nothing of this process, so that nobody who reads this process's output waits for it.
final class OriginChannel: Sendable {
    private typealias Waiter = CheckedContinuation<String, any Error>

    private struct State {
        var answers: [String] = []
        /// In the order of their questions; without a continuation once cancelled, and then its answer is dropped.
        var waiters: [(number: Int, continuation: Waiter?)] = []
        var next = 0
        /// What it wrote to its standard error; nil while it runs.
        var lastWords: String?
    }

    /// What the reading thread shares; it must not keep the channel itself, whose end is the child's.
    private final class Answers: Sendable {
        private let state = Mutex(State())

        func next(after question: () throws -> Void) async throws -> String {
            let number = state.withLock { state in
                state.next += 1
                return state.next
            }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: Waiter) in
                    let result: Result<String, any Error>? = state.withLock { state in
                        if let words = state.lastWords { return .failure(OriginError.ended(words)) }
                        guard !Task.isCancelled else { return .failure(CancellationError()) }
                        // Asked under the lock, so that answers come in the order of those who wait for them.
                        do { try question() } catch { return .failure(error) }
                        guard state.answers.isEmpty else { return .success(state.answers.removeFirst()) }
                        state.waiters.append((number, continuation))
                        return nil
                    }
                    if let result { continuation.resume(with: result) }
                }
            } onCancel: {
                let waiter: Waiter? = state.withLock { state in
                    guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
                    defer { state.waiters[index].continuation = nil }
                    return state.waiters[index].continuation
                }
                waiter?.resume(throwing: CancellationError())
            }
        }

        func add(_ line: String) {
            let waiter: Waiter? = state.withLock { state in
                guard state.waiters.isEmpty else { return state.waiters.removeFirst().continuation }
                state.answers.append(line)
                return nil
            }
            waiter?.resume(returning: line)
        }

        func end(saying words: String) {
            let waiters: [Waiter] = state.withLock { state in
                state.lastWords = words
                defer { state.waiters = [] }
                return state.waiters.compactMap { $0.continuation }
            }
            for waiter in waiters { waiter.resume(throwing: OriginError.ended(words)) }
        }
    }

    private let input: OpenFile
    private let answers: Answers

    private init(input: OpenFile, answers: Answers) {
        self.input = input
        self.answers = answers
    }

    /// Starts a script of this folder.
    static func python(
        _ script: String,
        _ arguments: [String] = [],
        by interpreter: [String] = ["/usr/bin/python3"]
    ) async throws -> OriginChannel {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: script).path
        let words = interpreter + [script] + arguments
        let answers = Answers()
        let input = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<OpenFile, any Error>) in
            let thread = Thread { run(words, answers: answers, started: continuation) }
            thread.name = "test-origin"
            thread.start()
        }
        return OriginChannel(input: input, answers: answers)
    }

    /// The line that the child prints unasked, at its start.
    func announcement() async throws -> String {
        try await answers.next {}
    }

    /// The port that the child prints at its start.
    func announcedPort() async throws -> Int {
        let announcement = try await announcement()
        let port = try JSONDecoder().decode([String: Int].self, from: Data(announcement.utf8))["port"]
        guard let port else { throw OriginError.unexpected(announcement) }
        return port
    }

    func ask(_ question: String) async throws -> String {
        try await answers.next {
            try Array("\(question)\n".utf8).withUnsafeBytes { try input.write($0) }
        }
    }

    private static func run(
        _ words: [String],
        answers: Answers,
        started: CheckedContinuation<OpenFile, any Error>
    ) {
        let child: (process: pid_t, output: OpenFile, errorOutput: OpenFile)
        do {
            // Not kept here: the child ends once the channel lets go of it.
            let input: OpenFile
            (input, child) = try spawn(words)
            started.resume(returning: input)
        } catch {
            started.resume(throwing: error)
            return
        }

        var rest = Data()
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(child.output.descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest += part.prefix(count)
            while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
                answers.add(String(decoding: rest[..<newline], as: UTF8.self))
                rest = Data(rest[rest.index(after: newline)...])
            }
        }
        answers.end(saying: String(decoding: ChildProcess.contents(of: child.errorOutput).suffix(4_000), as: UTF8.self))
        var status: Int32 = 0
        while waitpid(child.process, &status, 0) < 0, errno == EINTR {}
    }

    /// Not Foundation's Process: it lists the open descriptors while other threads open and close theirs, and with a
    /// thousand of them that has ended in a bad memory access.
    private static func spawn(
        _ words: [String]
    ) throws(Errno) -> (OpenFile, (process: pid_t, output: OpenFile, errorOutput: OpenFile)) {
        let (input, childInput) = try pair()
        let (output, childOutput) = try pair()
        let errorOutput = try OpenFile.memory()
        let process = try ChildProcess.spawn(words, (childInput, childOutput, errorOutput), [:], nil).get()
        return (input, (process, output, errorOutput))
    }

    private static func pair() throws(Errno) -> (OpenFile, OpenFile) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Errno() }
        return (OpenFile(adopting: ends[0]), OpenFile(adopting: ends[1]))
    }
}
