package import CameoModel
internal import CameoRenderMessages
internal import Foundation

/// How renderer processes are run and limited.
package struct RendererConfiguration: Sendable {
    package var executable: String
    /// The number of processes that render at once, one picture and one thread each. Each has an idle spare besides.
    package var processes: Int
    /// The wall-clock limit of one picture from the time a renderer takes it. At the limit the renderer is killed and
    /// the job fails with `render.timedOut`.
    package var timeout: Duration = .seconds(20)
    /// The address space of a process in bytes (RLIMIT_AS); beyond it a job fails with `render.outOfMemory`. Libraries
    /// take 0.2 GiB, and a picture of `limits.pixels` that its decoder holds in memory another 0.4.
    package var memoryLimitBytes = 1_536 << 20
    package var recycleAfterPictures = 500
    package var recycleAfterResidentBytes = 256 << 20
    package var limits = RenderLimits()
    /// Whether a truncated source is rendered as far as it goes, instead of failing with `image.corrupt`.
    package var toleratesTruncation = false
    /// The formats of `PictureFormat.optional` that may be decoded. A process that decoded one is replaced at once.
    package var allowedFormats: Set<PictureFormat> = []
    /// Whether a process without all layers of the lock-down is rejected.
    package var requiresSandbox = false
    /// The most bytes that a process may return for one rendition.
    package var maximumOutputBytes = RendererProtocol.maximumOutputBytes
    /// The most bytes that it may return for all renditions of a job, which the worker holds at once.
    package var maximumTotalOutputBytes = RendererProtocol.maximumTotalOutputBytes

    /// Whether the processes are `cameo-frames`, whose picture may be smaller than the video, and a roll of frames.
    var makesFrames = false

    package init(executable: String, processes: Int) {
        self.executable = executable
        self.processes = processes
    }
}

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
