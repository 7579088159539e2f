internal import CameoWorker
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// What a running worker makes of signals: SIGTERM and SIGINT let it finish what runs, a second one makes it give that
/// back. SIGHUP, which is also the end of a terminal, makes it read its settings again.
struct WorkerSignals {
    let worker: Worker
    let group: ServiceGroup
    let logger: Logger
    let reload: @Sendable () async -> Void

    /// A stop often arrives twice: `timeout`, for one, signals its child and then the group that the child is in.
    private static let echo = Duration.milliseconds(250)

    /// Ends with its task only.
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
                logger.info("gives back what runs")
                worker.giveBack()
            case .some: break
            }
        }
    }
}
