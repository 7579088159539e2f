internal import Foundation

extension RendererConfiguration {
    /// The renderer beside this program.
    package static var siblingExecutable: String { sibling("cameo-renderer") }

    /// A program beside this one.
    package static func sibling(_ name: String) -> String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: own).deletingLastPathComponent().appending(path: name).path
    }
}
