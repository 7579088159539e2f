internal import CameoWorker
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// The signals of a running worker. SIGTERM and SIGINT let running jobs finish; a second one returns them to the queue.
/// SIGHUP, which a closing terminal sends too, makes the worker read its settings again.
struct WorkerSignals {
    let worker: Worker
    let group: ServiceGroup
    let logger: Logger
    let reload: @Sendable () async -> Void

    /// A stop often arrives twice: `timeout`, for example, signals its child and then the child's process group.
    private static let echo = Duration.milliseconds(250)

    /// Listens until its task is cancelled.
    func listen(to signals: UnixSignalsSequence) async {
        var stoppedAt: ContinuousClock.Instant?
        for await signal in signals {
            guard signal != .sighup else {
                await reload()
                continue
            }
            switch stoppedAt {
            case nil:
                stoppedAt = .now
                await group.triggerGracefulShutdown()
            case .some(let time) where time.duration(to: .now) > Self.echo:
                logger.info("returning running jobs")
                worker.giveBack()
            case .some: break
            }
        }
    }
}
