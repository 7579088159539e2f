package import ArgumentParser
internal import CLinux
internal import CameoModel
internal import CameoStore
package import CameoSystem
internal import Foundation
internal import Glibc
internal import Synchronization

/// Runs a command to its exit code: parses, runs, and prints thrown errors to standard error. A malformed command line
/// is reported with `Error:` and the usage; any other error with the command's name.
package enum CommandMain {
    /// Runs a command. With an `environmentPrefix`, options may also come from variables (``EnvironmentOptions``).
    package static func run(
        _ type: (some AsyncParsableCommand).Type,
        environmentPrefix: String? = nil
    ) async -> Never {
        prepareProcess()
        var variables = EnvironmentOptions()
        var parsed: (any ParsableCommand.Type)?
        do {
            let (words, warnings): ([String], [String])
            (variables, words, warnings) = try Self.words(for: type, environmentPrefix)
            for warning in warnings { Output.error("\(type._commandName): \(variables.named(in: warning))") }
            var command = try await type.asyncParseAsRoot(words)
            parsed = Swift.type(of: command)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            end(ExitStatus.done.rawValue)
        } catch let error as ExitCode {
            end(error.rawValue)
        } catch  where type.exitCode(for: error) == .success {
            // Help, version and completion scripts arrive as errors.
            let text = type.fullMessage(for: error)
            Output.line(type.configuration.subcommands.isEmpty ? CompletionScript.withoutSubcommands(text) : text)
            end(ExitStatus.done.rawValue)
        } catch {
            let (lines, status) = explain(error, of: parsed, from: type)
            for (index, line) in lines.enumerated() {
                Output.error(TerminalText.escaped(index == 0 ? variables.named(in: line) : line))
            }
            end(status.rawValue)
        }
    }

    private static func end(_ status: Int32) -> Never {
        Output.drain()
        exit(status)
    }

    /// Whoever closes a standard file wants nothing of it: it becomes `/dev/null`, so that no other file gets its number.
    /// The kernel spares a container's first process the signals that it does not handle: there, the usual ones end it
    /// as they end every other.
    private static func prepareProcess() {
        var file: Int32
        repeat { file = open("/dev/null", O_RDWR) } while (0...STDERR_FILENO).contains(file)
        if file >= 0 { close(file) }
        guard getpid() == 1 else { return }
        for number in [SIGHUP, SIGINT, SIGTERM] { signal(number) { _exit(128 + $0) } }
    }

    /// Parses the same arguments again, with the current environment and settings file.
    package static func parsed<Command: AsyncParsableCommand>(
        _ type: Command.Type,
        environmentPrefix: String
    ) async throws -> Command {
        try await type.asyncParse(words(for: type, environmentPrefix).words)
    }

    /// What the parser gets: the options of the environment, then the words of the command line, with what takes the place
    /// of options that have gone; and warnings of these.
    static func words(
        for type: (some ParsableCommand).Type,
        _ prefix: String?,
        given bytes: [[UInt8]] = CommandWords.ofThisProcess,
        environment own: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> (variables: EnvironmentOptions, words: [String], warnings: [String]) {
        let given = try CommandWords(bytes, for: type).parsed()
        guard given.first != "---completion" else { return (EnvironmentOptions(), given, []) }
        var variables = EnvironmentOptions()
        if let prefix {
            let environment = try SettingsFile.environment(own, for: given, prefix: prefix)
            variables = try EnvironmentOptions(for: type, prefix: prefix, environment: environment, given: given)
        }
        let (words, warnings) = FormerOptions.replaced(in: variables.arguments + given, for: type)
        return (variables, words, warnings)
    }

    /// The lines to print, and the exit code; `command` is nil if the command line could not be parsed.
    static func explain(
        _ error: any Error,
        of command: (any ParsableCommand.Type)?,
        from root: (some ParsableCommand).Type
    ) -> (lines: [String], ExitStatus) {
        func named(_ messages: [String], _ status: ExitStatus) -> ([String], ExitStatus) {
            (messages.map { "\(root._commandName): \($0)" }, status)
        }
        switch error {
        case let error as CommandFailure: return named(error.messages, error.status)
        case let error as InvalidRequest: return named([error.description], .usage)
        case let error as StoreError:
            let origin = error.isAboutTheName ? StoreOptions.origin : ""
            return named([error.description + origin], error.exitStatus)
        case let error as ValidationError where command != nil:
            // A mistake that the command found while it ran, as the parser tells its own.
            let usage = root.usageString(for: command ?? root)
            let name = usage.prefix { !"[<".contains($0) }.trimmingCharacters(in: .whitespaces)
            let advice = "  See '\(name) --help' for more information."
            return (["Error: \(error.message)", "Usage: \(usage)", advice], .usage)
        case _ where root.exitCode(for: error) == .validationFailure:
            return (root.fullMessage(for: error).lines.map(String.init), .usage)
        default: return named([root.message(for: error)], .failed)
        }
    }
}

extension StoreError {
    package var exitStatus: ExitStatus {
        switch self {
        case .missing, .cannotOpen, .notAStore, .newerSchema, .olderSchema, .networkFileSystem, .readOnly, .full, .busy,
            .cancelled,
            .unreachable, .denied, .unreadableBlob, .refused, .damagedDatabase, .unremoved, .failed:
            .store
        case .uncertain: .perhaps
        case .invalidBackupTarget, .unknownEngine, .needsFolder: .usage
        case .leaseLost, .noSuchJob, .noSuch, .batchWithoutJobs, .notFound, .damagedBlob: .failed
        }
    }

    /// Whether a wrong store name may be the cause.
    fileprivate var isAboutTheName: Bool {
        switch self {
        case .missing, .cannotOpen, .notAStore, .unknownEngine: true
        default: false
        }
    }
}

/// Corrects ArgumentParser's completion script of a command without subcommands.
///
/// The script offers `help` as if it were one (`ToolInfoV0` adds it to every root). The command does not know this
/// word, and beside a repeating argument zsh's `_arguments` then completes nothing.
enum CompletionScript {
    static func withoutSubcommands(_ script: String) -> String {
        script.lines.filter { line in
            let words = line.drop { $0 == " " }
            return !zsh.contains(words) && words != bash && !line.contains(fish)
        }
        .joined(separator: "\n")
    }

    private static let zsh: Set<Substring> = ["'(-): :->command'", "'(-)*:: :->arg'"]
    private static let bash: Substring = "COMPREPLY+=($(compgen -W 'help' -- \"${cur}\"))"
    private static let fish = "-fa 'help' -d "
}

/// A file of environment variables in the format of systemd's EnvironmentFile: lines of `NAME=value`, with optional
/// quotes around the value; empty lines and lines that begin with `#` or `;` are ignored.
enum SettingsFile {
    /// Adds the variables of the settings file to the environment. The option `--settings` names the file, else its
    /// variable. Only the variable's file may be missing: a service unit names it for instances that want one.
    static func environment(
        _ environment: [String: String],
        for arguments: [String],
        prefix: String
    ) throws -> [String: String] {
        let option = path(arguments)
        guard let path = option ?? environment["\(prefix)SETTINGS"],
            option != nil || FileManager.default.fileExists(atPath: path)
        else { return environment }
        return environment.merging(try variables(at: path, prefix: prefix)) { $1 }
    }

    private static func path(_ arguments: [String]) -> String? {
        if let index = arguments.firstIndex(of: "--settings"), index + 1 < arguments.count {
            return arguments[index + 1]
        }
        let name = "--settings="
        return arguments.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }

    /// The variables in the file whose names begin with the prefix.
    private static func variables(at path: String, prefix: String) throws -> [String: String] {
        guard let text = try? String(validating: InputFile.read(path), as: UTF8.self) else {
            throw CommandFailure("--settings \(path): there is no such file, or it is not readable text", .usage)
        }
        var variables: [String: String] = [:]
        for (index, line) in text.lines.enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#"), !line.hasPrefix(";") else { continue }
            guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
                throw CommandFailure("--settings \(path): line \(index + 1) is not NAME=value", .usage)
            }
            let name = String(line[..<equals])
            var value = line[line.index(after: equals)...]
            for quote in ["\"", "'"] where value.count >= 2 && value.hasPrefix(quote) && value.hasSuffix(quote) {
                value = value.dropFirst().dropLast()
            }
            if name.hasPrefix(prefix) { variables[name] = String(value) }
        }
        return variables
    }
}

/// The exit codes of the commands, on which scripts may rely.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    /// A job failed, or something requested does not exist.
    case failed = 1
    case usage = 2
    /// The work did not finish in the given time.
    case timedOut = 3
    /// The store cannot be opened or written.
    case store = 4
    /// Whether what was asked for has been committed is not known.
    case perhaps = 5
}

/// An error that a command reports before it exits, one line per fault. A malformed command line is a `ValidationError`
/// instead, which is reported with the usage.
package struct CommandFailure: Error {
    package let messages: [String]
    package let status: ExitStatus

    package init(_ message: String, _ status: ExitStatus) {
        self.init([message], status)
    }

    package init(_ messages: [String], _ status: ExitStatus) {
        self.messages = messages
        self.status = status
    }

    /// Runs the body. If it throws, what was asked for cannot be used: these words and the reason say so.
    package static func naming<Value, Reason: Error>(
        _ words: String,
        _ body: () throws(Reason) -> Value
    ) throws(CommandFailure) -> Value {
        try Result(catching: body).mapError { CommandFailure("\(words): \($0)", .usage) }.get()
    }
}

/// Output of a program that runs on, such as its log: whoever writes never waits for a reader. A thread of its own writes
/// to the descriptor. When nobody reads and a megabyte waits, further texts are dropped, and counted until it flows again.
final class UnreadOutput: Sendable {
    private struct State {
        var waiting = Data()
        var dropped = 0
        var isWriting = false
    }

    private static let limit = 1 << 20
    private let descriptor: Int32
    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)

    /// `dropped` says how many texts were lost, once it flows again.
    ///
    /// - Throws: the error of a thread that cannot be started.
    init(to descriptor: Int32, dropped: @escaping @Sendable (Int) -> Void) throws(Errno) {
        self.descriptor = descriptor
        try BlockingThread.start("cameo-output") { [self] in
            while true {
                news.wait()
                writeAll()
                let lost = state.withLock { state in
                    defer { state.dropped = 0 }
                    return state.dropped
                }
                if lost > 0 { dropped(lost) }
            }
        }
    }

    func write(_ text: Data) {
        state.withLock { state in
            if state.waiting.count + text.count <= Self.limit { state.waiting += text } else { state.dropped += 1 }
        }
        news.signal()
    }

    private func writeAll() {
        let text = state.withLock { state in
            defer { (state.waiting, state.isWriting) = (Data(), true) }
            return state.waiting
        }
        // What cannot be written (full disk) is lost, and the program goes on.
        _ = Output.write(text, to: descriptor)
        state.withLock { $0.isWriting = false }
    }

    /// Waits until all is written, but no longer than a reader that is there may take.
    func drain() {
        for _ in 1...200 where state.withLock({ !$0.waiting.isEmpty || $0.isWriting }) { usleep(5_000) }
    }
}

/// How much of the machine this process and the programs that it starts leave to others.
package enum ProcessPriority {
    /// Sets the nice value, -20 to 19; only root can lower it.
    package static func setNice(_ value: Int) throws(Errno) {
        guard cameo_set_nice(CInt(value)) == 0 else { throw Errno() }
    }

    /// Uses disks only when no other process does, where their schedulers honour that.
    package static func useIdleDisk() throws(Errno) {
        guard cameo_set_idle_io() == 0 else { throw Errno() }
    }

    /// Raises the limit on open files, which shells set to 1,024, if it is lower.
    ///
    /// - Returns: the limit, which is lower than what was wanted if the hard limit is.
    @discardableResult
    package static func allowOpenFiles(_ wanted: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
        if limit.rlim_cur < rlim_t(wanted) {
            limit.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }
}
