import Foundation
import TestSupport

/// A running `cameo-web`.
struct WebProcess {
    let process: ChildProcess
    /// The URL that it printed, with a slash at its end.
    let url: String

    /// Starts it, and returns when it has printed its URL.
    static func start(_ arguments: String..., environment: [String: String?] = [:]) async throws -> WebProcess {
        try await start(arguments, environment: environment)
    }

    static func start(_ arguments: [String], environment: [String: String?]) async throws -> WebProcess {
        let process = try ChildProcess(try executable("cameo-web"), arguments, environment: environment)
        while true {
            let printed = String(decoding: process.standardOutput, as: UTF8.self)
            if printed.hasSuffix("\n") { return WebProcess(process: process, url: String(printed.dropLast())) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The path of one of the commands, which are built beside the tests.
    static func executable(_ name: String) throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: own).deletingLastPathComponent().appending(path: name).path
    }
}
