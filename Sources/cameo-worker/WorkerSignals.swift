internal import CameoWorker
internal import CommandSupport
internal import Glibc
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// The signals of a running worker. SIGTERM and SIGINT let running jobs finish; a second one returns them to the queue, and
/// ends the worker even if that cannot be written. SIGHUP, which a closing terminal sends too, makes the worker read its
/// settings again.
struct WorkerSignals {
    let worker: Worker
    let group: ServiceGroup
    let logger: Logger
    let reload: @Sendable () async -> Void

    /// A stop often arrives twice: `timeout`, for example, signals its child and then the child's process group.
    private static let echo = Duration.milliseconds(250)

    /// How long jobs may take to be returned: the store may be locked, or out of reach.
    private static let patience = Duration.seconds(5)

    /// Ends the process unless it has ended by itself. Whoever has the store open then takes over its jobs.
    private func end(by signal: UnixSignal) async {
        try? await Task.sleep(for: Self.patience)
        logger.warning("ending before all running jobs were returned; another worker will take them")
        Output.drain()
        _exit(128 + signal.rawValue)
    }

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
                if signal == .sigint, Output.errorIsTerminal { Output.error("finishing; press again to stop now") }
                await group.triggerGracefulShutdown()
            case .some(let time) where time.duration(to: .now) > Self.echo:
                logger.info("returning running jobs")
                worker.giveBack()
                Task { await end(by: signal) }
            case .some: break
            }
        }
    }
}
