internal import ArgumentParser
internal import CameoHooks
internal import CameoModel
internal import CommandSupport
internal import Foundation

/// Who is told of ended jobs.
struct HookOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A JSON file of hooks, which are told of the ends of jobs that name them: {"hooks": {"site": {"url": …, \
            "secretFile": …}}}. (default: none)
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var hooks: String?

    func settings() throws -> HookSettings {
        guard let path = hooks else { return .none }
        let data: Data
        do throws(Errno) {
            data = try InputFile.read(path)
        } catch {
            throw CommandFailure("--hooks \(path): cannot be read: \(error)", .usage)
        }
        do throws(InvalidRequest) {
            return try HookSettings(try HookFile(parsing: data)) { path throws(Errno) in try InputFile.read(path) }
        } catch {
            throw CommandFailure("--hooks \(path): \(error)", .usage)
        }
    }
}
