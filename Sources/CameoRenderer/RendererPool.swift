package import CameoModel
package import CameoRenderMessages
internal import Glibc

/// The worker's renderer processes.
///
/// DESIGN: every slot is a permanent thread with a child of its own. The thread spawns it (the kernel kills a child
/// when the *thread* that spawned it ends, so it has to be a permanent one), sends it jobs, polls for the answer with an
/// absolute deadline, kills, reaps and replaces it. Nothing blocks in the cooperative pool: a task that renders only
/// waits for its continuation. The slots share one ``JobDesk``.
package final class RendererPool: Sendable {
    private let desk: JobDesk

    /// Starts the children; does not wait until they are ready.
    ///
    /// - Throws: ``RendererUnavailable`` if the executable is missing or no slot can be set up.
    package init(_ configuration: RendererConfiguration) throws {
        guard access(configuration.executable, X_OK) == 0 else {
            throw RendererUnavailable("the renderer \(configuration.executable) cannot be run: \(Errno())")
        }
        let count = max(1, configuration.processes)
        var doorbells: [Doorbell] = []
        for _ in 0..<count { doorbells.append(try Doorbell()) }
        let desk = JobDesk(doorbells: doorbells)
        self.desk = desk
        for index in 0..<count {
            do throws(Errno) {
                try PermanentThread.start(named: "renderer-\(index)") {
                    var slot = RendererSlot(index: index, configuration: configuration, desk: desk)
                    slot.run()
                }
            } catch {
                desk.slotEnded(index, count: count - index)
                desk.shutDown()
                throw RendererUnavailable("no thread for renderer \(index): \(error)")
            }
        }
    }

    deinit { desk.shutDown() }

    /// Makes all renditions of a picture, or none.
    ///
    /// - Parameters:
    ///   - renditions: at most `ThumbnailRequest.maximumRenditions`.
    ///   - source: a regular or memory file; read from its start whatever its offset.
    ///   - kind: what the file holds.
    ///   - overlays: at most `ThumbnailRequest.maximumOverlays`, each source once.
    ///   - name: what messages call the source.
    ///   - scopes: of the credentials that opened the source and the overlays. A renderer that has seen one's picture serves
    ///     nobody else's after it.
    ///   - timeout: wall clock from when a renderer takes the picture; nil takes the configuration's.
    ///   - clock: told of the wait for a renderer.
    /// - Returns: the renditions in the order asked for.
    /// - Throws: `JobFailure` of stage `render`; `CancellationError` when the task is cancelled or the pool shut down
    ///   (the child is killed at once).
    package func render(
        _ renditions: [Rendition],
        of source: OpenFile,
        holding kind: SourceKind = .file,
        overlays: [RenderOverlay] = [],
        named name: String,
        scopes: Set<RequestScope> = [],
        timeout: Duration? = nil,
        clock: WorkClock = WorkClock()
    ) async throws -> RenderedPicture {
        let id = desk.announce()
        clock.beginWait()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let ticket = RenderTicket(
                    id: id,
                    renditions: renditions,
                    source: source,
                    kind: kind,
                    overlays: overlays,
                    name: name,
                    scopes: scopes,
                    timeout: timeout,
                    clock: clock,
                    continuation: continuation
                )
                desk.submit(ticket)
            }
        } onCancel: {
            desk.cancel(id)
        }
    }

    /// Whether a child has started and said which version it is, in at least one slot.
    package var isReady: Bool { desk.isReady }

    /// Returns when a child has started and said which version it is.
    ///
    /// - Throws: ``RendererUnavailable`` once no slot could start its child some times in a row.
    package func waitUntilReady() async throws(RendererUnavailable) {
        while !isReady {
            if let reason = desk.brokenReason { throw RendererUnavailable(reason) }
            // A start takes about 100 ms. A cancelled wait ends with the pool.
            guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { return }
        }
    }

    /// The layers of the sandbox that this machine's kernel does not grant to renderers; none until ``isReady``.
    package var missingSandboxLayers: [String] { sandbox?.missing ?? [] }

    /// What holds the renderers, as the first that was ready told; nil until ``isReady``.
    package var sandbox: SandboxReport? { desk.sandbox }

    /// What would be the version of a picture rendered now; nil until ``isReady``.
    package var rendererVersion: String? { desk.rendererVersion }

    package var statistics: RendererStatistics { desk.statistics }

    /// From now on a child that somebody else's signal ends costs its picture nothing: `render` throws
    /// `CancellationError`. Whoever stops a worker may stop all its processes at once.
    package func expectEnd() { desk.expectEnd() }

    /// Ends every child, what it renders included; returns when all are reaped. Later calls of `render` throw
    /// `CancellationError`.
    package func shutdown() async {
        desk.shutDown()
        await desk.allSlotsEnded()
    }
}
