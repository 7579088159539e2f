internal import ArgumentParser
internal import CameoRenderer
internal import CommandSupport
internal import Foundation

/// How pictures are rendered, and what one of them may cost.
struct RenderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Pictures rendered at once, each in a process of its own. (default: cores)",
            valueName: "number"
        )
    )
    var renderConcurrency: Int?

    @Option(help: ArgumentHelp("How long a picture may take before its renderer is killed.", valueName: "duration"))
    var renderTimeout = DurationArgument(.seconds(20))

    @Option(help: ArgumentHelp("Address space of a renderer, 512M at least.", valueName: "size"))
    var memoryLimit = ByteCount(1_536 << 20)

    @Option(
        help: ArgumentHelp("Pictures after which a renderer is replaced; 1 gives each its own.", valueName: "number")
    )
    var recycleAfter = 500

    @Option(help: ArgumentHelp("Resident memory after which a renderer is replaced.", valueName: "size"))
    var recycleResident = ByteCount(256 << 20)

    @Option(
        help: ArgumentHelp("The program that renders. (default: cameo-renderer beside this one)", valueName: "path"),
        completion: .file()
    )
    var renderer: String?

    @Flag(help: "Refuses to start where the kernel lacks a layer of the renderers' sandbox, instead of a warning.")
    var requireSandbox = false

    func validate() throws {
        try require(renderConcurrency ?? 1, atLeast: 1, atMost: 1_024, "--render-concurrency")
        try require(renderTimeout, atLeast: .milliseconds(100), "--render-timeout")
        // A renderer has 0.2 GiB of address space before its first picture.
        try require(memoryLimit, atLeast: ByteCount(512 << 20), "--memory-limit")
        try require(recycleAfter, atLeast: 1, "--recycle-after")
        try require(recycleResident, atLeast: ByteCount(1 << 20), "--recycle-resident")
    }

    var processes: Int { renderConcurrency ?? ProcessInfo.processInfo.activeProcessorCount }

    func configuration() -> RendererConfiguration {
        var configuration = RendererConfiguration(executable: renderer ?? Self.siblingRenderer, processes: processes)
        configuration.timeout = renderTimeout.duration
        configuration.memoryLimitBytes = memoryLimit.bytes
        configuration.requiresSandbox = requireSandbox
        configuration.recycleAfterPictures = recycleAfter
        configuration.recycleAfterResidentBytes = recycleResident.bytes
        return configuration
    }

    private static var siblingRenderer: String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: own).deletingLastPathComponent().appending(path: "cameo-renderer").path
    }
}
