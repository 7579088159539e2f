package import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import Foundation

/// Runs a command to its exit code: parse, run, and turn what it throws into one line on standard error.
package enum CommandMain {
    /// With an `environmentPrefix`, options may also come from variables that begin so (``EnvironmentOptions``).
    package static func run(
        _ type: (some AsyncParsableCommand).Type,
        environmentPrefix: String? = nil
    ) async -> Never {
        do {
            let command = try type.parseAsRoot(try arguments(for: type, environmentPrefix))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                var command = command
                try command.run()
            }
            exit(ExitStatus.done.rawValue)
        } catch let error as ExitCode {
            exit(error.rawValue)
        } catch  where type.exitCode(for: error) == .success {
            // Help and version arrive as errors that are none.
            Output.line(type.fullMessage(for: error))
            exit(ExitStatus.done.rawValue)
        } catch {
            guard let (message, status) = explain(error) else {
                // ArgumentParser's own code for bad usage is 64; ours is 2.
                let isUsage = type.exitCode(for: error) == .validationFailure
                Output.error(type.fullMessage(for: error))
                exit((isUsage ? ExitStatus.usage : .failed).rawValue)
            }
            Output.error("\(type._commandName): \(TerminalText.escaped(message))")
            exit(status.rawValue)
        }
    }

    /// The command as it would be run now, by the same arguments and what is the environment's and the settings file's.
    package static func parsed<Command: ParsableCommand>(
        _ type: Command.Type,
        environmentPrefix: String
    ) throws -> Command {
        try type.parse(try arguments(for: type, environmentPrefix))
    }

    private static func arguments(for type: (some ParsableCommand).Type, _ prefix: String?) throws -> [String] {
        let given = storeBehindSubcommand(Array(CommandLine.arguments.dropFirst()), type)
        guard let prefix else { return given }
        var environment = ProcessInfo.processInfo.environment
        if let path = SettingsFile.path(given, environment, prefix: prefix) {
            environment.merge(try SettingsFile.variables(at: path, prefix: prefix)) { $1 }
        }
        return try EnvironmentOptions.arguments(for: type, prefix: prefix, environment: environment, given: given)
            + given
    }

    /// `cameo-status --store DIR job 7` is as good as `cameo-status job 7 --store DIR`; ArgumentParser takes only the latter.
    private static func storeBehindSubcommand(
        _ arguments: [String],
        _ type: (some ParsableCommand).Type
    ) -> [String] {
        let length = arguments.first == "--store" ? 2 : arguments.first?.hasPrefix("--store=") == true ? 1 : 0
        guard length > 0, arguments.count > length else { return arguments }
        var (end, subcommands) = (length, type.configuration.subcommands)
        while end < arguments.count, let next = subcommands.first(where: { $0._commandName == arguments[end] }) {
            (end, subcommands) = (end + 1, next.configuration.subcommands)
        }
        return Array(arguments[length..<end] + arguments[..<length] + arguments[end...])
    }

    /// Nil for what ArgumentParser explains itself.
    private static func explain(_ error: any Error) -> (String, ExitStatus)? {
        switch error {
        case let error as CommandFailure: (error.message, error.status)
        case let error as InvalidRequest: (error.description, .usage)
        case let error as StoreError: (error.description, error.exitStatus)
        default: nil
        }
    }
}

extension StoreError {
    package var exitStatus: ExitStatus {
        switch self {
        case .missing, .cannotOpen, .notAStore, .newerSchema, .olderSchema, .networkFileSystem, .readOnly, .full, .busy,
            .unreadableBlob, .refused, .damagedDatabase, .failed:
            .store
        case .noPlace, .unknownEngine: .usage
        case .leaseLost, .noSuchJob, .noSuch, .notFound, .damagedBlob: .failed
        }
    }
}
