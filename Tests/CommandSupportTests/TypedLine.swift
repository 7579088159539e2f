import ArgumentParser
import Foundation

@testable import CommandSupport
@testable import cameo_admin
@testable import cameo_enqueue
@testable import cameo_status
@testable import cameo_worker

/// A command line as somebody types it, parsed in this process as the command parses it.
struct TypedLine: CustomStringConvertible {
    static let commands: [String: any AsyncParsableCommand.Type] = [
        "cameo-admin": CameoAdmin.self, "cameo-enqueue": CameoEnqueue.self, "cameo-status": CameoStatus.self,
        "cameo-worker": CameoWorkerCommand.self,
    ]

    let root: any AsyncParsableCommand.Type
    let words: [String]
    let environment: [String: String]

    /// The words, of which the first names the command, stand between spaces; `''` is an empty one.
    init(_ text: String, _ more: [String] = [], environment: [String: String] = [:]) throws {
        let all = text.split(separator: " ").map { $0 == "''" ? "" : String($0) } + more
        guard let name = all.first, let root = Self.commands[name] else { throw CleanExit.message(text) }
        (self.root, self.words, self.environment) = (root, Array(all.dropFirst()), environment)
    }

    var description: String { words.joined(separator: " ") }

    private func prepared() throws -> (variables: EnvironmentOptions, words: [String], warnings: [String]) {
        let prefix = root == CameoWorkerCommand.self ? CameoVariables.prefix : nil
        return try CommandMain.words(for: root, prefix, given: words.map { Array($0.utf8) }, environment: environment)
    }

    /// What the command says of options that have gone.
    func warnings() throws -> [String] { try prepared().warnings }

    func parsed() async throws -> any ParsableCommand { try await Self.parse(root, prepared().words) }

    private static func parse<Root: AsyncParsableCommand>(
        _ root: Root.Type,
        _ words: [String]
    ) async throws -> any ParsableCommand {
        try await root.asyncParseAsRoot(words)
    }

    /// What the command prints of a mistake in the line, and with which exit code it ends; nil if there is none that it can
    /// see before it opens a store.
    func mistake() async throws -> (text: String, status: ExitStatus)? {
        var command: (any ParsableCommand)?
        do {
            command = try await parsed()
            if let enqueue = command as? CameoEnqueue { _ = try await enqueue.requests() }
            return nil
        } catch {
            let (lines, status) = CommandMain.explain(error, of: command.map { type(of: $0) }, from: root)
            let variables = (try? prepared())?.variables ?? EnvironmentOptions()
            return (([variables.named(in: lines[0])] + lines.dropFirst()).joined(separator: "\n"), status)
        }
    }
}

extension CameoEnqueue {
    /// The requests of the command line.
    func requests() async throws -> RequestList {
        let isNamed = request.isEmpty && !data
        let sources = isNamed ? try SourceArgument.all(list.sources(source), separator: list.separator) : []
        return try await readRequests(sources, request.isEmpty ? renditions.renditions() : [])
    }
}
