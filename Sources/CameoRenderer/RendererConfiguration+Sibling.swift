internal import Foundation

extension RendererConfiguration {
    /// The renderer beside this program.
    package static var siblingExecutable: String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: own).deletingLastPathComponent().appending(path: "cameo-renderer").path
    }
}
