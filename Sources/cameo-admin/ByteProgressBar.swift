internal import CameoStore
internal import CommandSupport
internal import Synchronization

/// A progress bar in MiB that may be updated from any thread.
final class ByteProgressBar: Sendable {
    private let bar = Mutex(ProgressBar())

    func show(_ progress: ByteProgress) {
        bar.withLock { $0.show(done: progress.done >> 20, of: progress.total >> 20, note: "MiB") }
    }

    /// Leaves the last line on the terminal.
    func finish() {
        bar.withLock { $0.finish() }
    }
}
