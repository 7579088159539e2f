/// How renderer processes are run and what they may use.
package struct RendererConfiguration: Sendable {
    /// Path of `cameo-renderer`.
    package var executable: String
    /// Children that render at once, one picture and one thread each. Beside each stands a spare, started and idle.
    package var processes: Int
    /// Wall clock for one picture, from when a renderer takes it; then the renderer is killed: `render.timedOut`.
    package var timeout: Duration = .seconds(20)
    /// Address space of a child (RLIMIT_AS): `render.outOfMemory`. Libraries take 0.2 GiB of it, a picture of
    /// ``maximumPixels`` that its decoder holds as a whole another 0.4.
    package var memoryLimitBytes = 1_536 << 20
    package var recycleAfterPictures = 500
    package var recycleAfterResidentBytes = 256 << 20
    /// Width × height of a source's first page: `image.tooManyPixels`.
    package var maximumPixels = 100_000_000
    /// What a child may return for one rendition.
    package var maximumOutputBytes = 64 << 20

    /// As many processes as there are cores is usual.
    package init(executable: String, processes: Int) {
        self.executable = executable
        self.processes = processes
    }
}
