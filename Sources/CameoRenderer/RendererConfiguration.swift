package import CameoModel
internal import CameoRenderMessages

/// How renderer processes are run and what they may use.
package struct RendererConfiguration: Sendable {
    /// Path of `cameo-renderer`.
    package var executable: String
    /// Children that render at once, one picture and one thread each. Beside each stands a spare, started and idle.
    package var processes: Int
    /// Wall clock for one picture, from when a renderer takes it; then the renderer is killed: `render.timedOut`.
    package var timeout: Duration = .seconds(20)
    /// Address space of a child (RLIMIT_AS): `render.outOfMemory`. Libraries take 0.2 GiB of it, a picture of
    /// `limits.pixels` that its decoder holds as a whole another 0.4.
    package var memoryLimitBytes = 1_536 << 20
    package var recycleAfterPictures = 500
    package var recycleAfterResidentBytes = 256 << 20
    package var limits = RenderLimits()
    /// Whether a truncated source gives a thumbnail of what there is, instead of `image.corrupt`.
    package var toleratesTruncation = false
    /// Those of `PictureFormat.optional` that are decoded. A child that was given one is replaced at once.
    package var allowedFormats: Set<PictureFormat> = []
    /// Whether a child that lacks a layer of its lock-down counts as one that does not start.
    package var requiresSandbox = false
    /// What a child may return for one rendition.
    package var maximumOutputBytes = RendererProtocol.maximumOutputBytes
    /// What it may return for all renditions of a job: the worker holds them at once.
    package var maximumTotalOutputBytes = RendererProtocol.maximumTotalOutputBytes

    /// As many processes as there are cores is usual.
    package init(executable: String, processes: Int) {
        self.executable = executable
        self.processes = processes
    }
}
