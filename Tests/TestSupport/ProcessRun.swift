package import Foundation

/// What a program that ended left behind.
package struct ProcessResult: Sendable {
    package let standardOutput: Data
    package let standardError: Data
    package let ending: ChildProcess.Ending

    /// As a shell shows it in `$?`: 128 and the signal's number for a program that a signal ended.
    package var exitStatus: Int32 {
        switch ending {
        case .exited(let status): status
        case .signalled(let signal): 128 + signal
        }
    }

    package var outputText: String { String(decoding: standardOutput, as: UTF8.self) }
    package var errorText: String { String(decoding: standardError, as: UTF8.self) }
}

/// A program that was still running when its time was up; it and its process group were killed.
package struct ProcessTimedOut: Error, CustomStringConvertible {
    package let command: [String]
    package let timeout: Duration
    package let result: ProcessResult

    package var description: String {
        """
        \(command.joined(separator: " ")) was still running after \(timeout)
        stdout: \(result.outputText.suffix(2_000))
        stderr: \(result.errorText.suffix(2_000))
        """
    }
}

/// Runs a program to its end. Never blocks the cooperative pool; cancelling the task kills the program.
///
/// - Parameters:
///   - executable: a path, or a name that is looked up in `PATH`.
///   - arguments: those after the program's own name.
///   - input: its standard input; nil: `/dev/null`.
///   - environment: added to this process's own; a variable whose value is nil is taken away.
///   - currentDirectory: nil: this process's own.
///   - timeout: after which its process group is killed: a guard against hanging, no measure of speed.
/// - Returns: output, error output and how it ended, also when it failed.
/// - Throws: `ProcessTimedOut`; `Errno` if it cannot be started.
package func run(
    _ executable: String,
    _ arguments: [String] = [],
    input: Data? = nil,
    environment: [String: String?] = [:],
    currentDirectory: URL? = nil,
    timeout: Duration = .seconds(300)
) async throws -> ProcessResult {
    let child = try ChildProcess(
        executable,
        arguments,
        input: input,
        environment: environment,
        currentDirectory: currentDirectory
    )
    let timer = Task {
        try await Task.sleep(for: timeout)
        return child.killGroup()
    }
    let ending = await child.ending
    timer.cancel()
    try Task.checkCancellation()
    let result = ProcessResult(
        standardOutput: child.standardOutput,
        standardError: child.standardError,
        ending: ending
    )
    if (try? await timer.value) == true {
        throw ProcessTimedOut(command: [executable] + arguments, timeout: timeout, result: result)
    }
    return result
}
