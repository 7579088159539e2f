package import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import Foundation

/// Runs a command to its exit code: parses, runs, and prints thrown errors to standard error. A malformed command line
/// is reported with `Error:` and the usage; any other error with the command's name.
package enum CommandMain {
    /// Runs a command. With an `environmentPrefix`, options may also come from variables (``EnvironmentOptions``).
    package static func run(
        _ type: (some AsyncParsableCommand).Type,
        environmentPrefix: String? = nil
    ) async -> Never {
        var variables = EnvironmentOptions()
        var parsed: (any ParsableCommand.Type)?
        do {
            let given: [String]
            (variables, given) = try words(for: type, environmentPrefix)
            var command = try await type.asyncParseAsRoot(variables.arguments + given)
            parsed = Swift.type(of: command)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            exit(ExitStatus.done.rawValue)
        } catch let error as ExitCode {
            exit(error.rawValue)
        } catch  where type.exitCode(for: error) == .success {
            // Help, version and completion scripts arrive as errors.
            let text = type.fullMessage(for: error)
            Output.line(type.configuration.subcommands.isEmpty ? CompletionScript.withoutSubcommands(text) : text)
            exit(ExitStatus.done.rawValue)
        } catch {
            let (lines, status) = explain(error, of: parsed, from: type)
            for (index, line) in lines.enumerated() {
                Output.error(TerminalText.escaped(index == 0 ? variables.named(in: line) : line))
            }
            exit(status.rawValue)
        }
    }

    /// Parses the same arguments again, with the current environment and settings file.
    package static func parsed<Command: AsyncParsableCommand>(
        _ type: Command.Type,
        environmentPrefix: String
    ) async throws -> Command {
        let (variables, given) = try words(for: type, environmentPrefix)
        return try await type.asyncParse(variables.arguments + given)
    }

    private static func words(
        for type: (some ParsableCommand).Type,
        _ prefix: String?
    ) throws -> (EnvironmentOptions, [String]) {
        let given = try CommandWords(CommandWords.ofThisProcess, for: type).parsed()
        guard let prefix, given.first != "---completion" else { return (EnvironmentOptions(), given) }
        let own = ProcessInfo.processInfo.environment
        let environment = try SettingsFile.environment(own, for: given, prefix: prefix)
        return (try EnvironmentOptions(for: type, prefix: prefix, environment: environment, given: given), given)
    }

    /// The lines to print, and the exit code; `command` is nil if the command line could not be parsed.
    private static func explain(
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
            return (usage(error.message, of: command ?? root, from: root), .usage)
        case _ where root.exitCode(for: error) == .validationFailure:
            return (root.fullMessage(for: error).components(separatedBy: "\n"), .usage)
        default: return named([root.message(for: error)], .failed)
        }
    }

    /// A mistake that the command found while it ran, as the parser tells its own.
    private static func usage(
        _ mistake: String,
        of command: any ParsableCommand.Type,
        from root: any ParsableCommand.Type
    ) -> [String] {
        let usage = root.usageString(for: command)
        let name = usage.prefix { !"[<".contains($0) }.trimmingCharacters(in: .whitespaces)
        return ["Error: \(mistake)", "Usage: \(usage)", "  See '\(name) --help' for more information."]
    }
}

extension StoreError {
    package var exitStatus: ExitStatus {
        switch self {
        case .missing, .cannotOpen, .notAStore, .newerSchema, .olderSchema, .networkFileSystem, .readOnly, .full, .busy,
            .unreachable, .denied, .unreadableBlob, .refused, .damagedDatabase, .failed:
            .store
        case .invalidBackupTarget, .unknownEngine, .needsFolder: .usage
        case .leaseLost, .noSuchJob, .noSuch, .notFound, .damagedBlob: .failed
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
