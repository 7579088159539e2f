package import CameoModel
package import CameoRenderMessages
package import CameoSystem
internal import Foundation
internal import Glibc

/// The worker's renderer processes.
///
/// DESIGN: every slot is a thread with a child of its own: it spawns the child, sends it jobs, polls for the answer with an
/// absolute deadline, and kills, reaps and replaces it. The thread is permanent because the kernel kills a child when the
/// *thread* that spawned it ends. A task that renders only awaits its continuation. The slots share one ``JobDesk``.
package final class RendererPool: Sendable {
    private let desk: JobDesk

    /// Starts the children without waiting until they are ready.
    ///
    /// - Throws: ``RendererUnavailable`` if the executable is missing or no slot can be set up.
    package init(_ configuration: RendererConfiguration) throws {
        guard access(configuration.executable, X_OK) == 0 else {
            let reason = "the renderer \(configuration.executable) cannot be run: \(Errno())"
            throw RendererUnavailable(description: reason)
        }
        let count = max(1, configuration.processes)
        let desk = JobDesk(doorbells: try (0..<count).map { _ in try Doorbell() })
        self.desk = desk
        for index in 0..<count {
            do throws(Errno) {
                try BlockingThread.start("renderer-\(index)") {
                    var slot = RendererSlot(index: index, configuration: configuration, desk: desk)
                    slot.run()
                }
            } catch {
                for unstarted in index..<count { desk.slot(unstarted, became: .ended) }
                desk.change { $0.shutDown() }
                throw RendererUnavailable(description: "cannot start the thread of renderer \(index): \(error)")
            }
        }
    }

    deinit { desk.change { $0.shutDown() } }

    /// Makes all renditions of a picture, or none. The clock is stopped while the picture waits for a renderer, and is
    /// told the processor time that one took, even if it failed.
    ///
    /// - Throws: `JobFailure` of stage `render`, or `CancellationError` if the task is cancelled or the pool shut down
    ///   (the child is then killed at once).
    package func render(_ request: RenderRequest, clock: WorkClock) async throws -> RenderedPicture {
        let id = desk.with { $0.newID() }
        clock.beginWait()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let ticket = RenderTicket(id: id, request: request, clock: clock, continuation: continuation)
                desk.change { $0.submit(ticket) }
            }
        } onCancel: {
            desk.change { $0.cancel(id) }
        }
    }

    /// Whether at least one slot has a child that has started and reported its version.
    package var isReady: Bool { desk.isReady }

    /// Returns when ``isReady`` is true.
    ///
    /// - Throws: ``RendererUnavailable`` once every slot has failed to start its child several times in a row.
    package func waitUntilReady() async throws(RendererUnavailable) {
        while !isReady {
            if let reason = desk.brokenReason { throw RendererUnavailable(description: reason) }
            // A start takes about 100 ms. A cancelled wait returns; the pool is shut down then.
            guard (try? await Task.sleep(for: .milliseconds(5))) != nil else { return }
        }
    }

    /// The layers of the sandbox that this machine's kernel does not grant to renderers; empty until ``isReady``.
    package var missingSandboxLayers: [String] { sandbox?.missing ?? [] }

    /// The lock-down that a renderer reported; nil until ``isReady``.
    package var sandbox: SandboxReport? { desk.greeting?.sandbox }

    /// The version that a picture rendered now would have; nil until ``isReady``.
    package var rendererVersion: String? { desk.greeting?.rendererVersion }

    /// What the renderers of this host cannot read or write; empty until ``isReady``.
    package var lacks: [HostLack] { desk.greeting?.lacks ?? [] }

    /// What this host lacks to make renditions of pictures: of the source and then the overlays, or of none before they have
    /// been fetched. Nil if it can make them, as far as its renderers know.
    package func lack(
        for renditions: [Rendition],
        of pictures: [(file: OpenFile, kind: SourceKind)] = []
    ) -> HostLack? {
        let lacks = Set(lacks)
        guard !lacks.isEmpty else { return nil }
        let formats = pictures.map { PictureFormat(of: $0.file, holding: $0.kind) }
        let written = renditions.map { rendition in
            (formats.first ?? nil).map(rendition.format.written(for:)) ?? rendition.format
        }
        let needs = formats.compactMap { $0.map(HostLack.reading) } + written.map(HostLack.writing)
        return needs.first(where: lacks.contains)
    }

    /// The number of pictures that it renders at once.
    package var count: Int { desk.doorbells.count }

    package var statistics: RendererStatistics { desk.statistics }

    /// Expects the worker to be stopped: if a child is now ended by a foreign signal, its picture is not blamed and
    /// `render` throws `CancellationError`. Whoever stops a worker may signal all its processes at once.
    package func expectEnd() { desk.with { $0.isEnding = true } }

    /// Ends every child with whatever it renders, and returns when all are reaped. Later calls of `render` throw
    /// `CancellationError`.
    package func shutdown() async {
        desk.change { $0.shutDown() }
        await desk.allSlotsEnded()
    }
}

/// A picture, and the renditions to make of it.
package struct RenderRequest: Sendable {
    /// At most `ThumbnailRequest.maximumRenditions`.
    package var renditions: [Rendition]
    /// A regular or memory file, read from its start whatever its offset.
    package var source: OpenFile
    /// The kind of the source's contents.
    package var kind = SourceKind.file
    /// At most `ThumbnailRequest.maximumOverlays`, each source once.
    package var overlays: [RenderOverlay] = []
    /// The name of the source in messages.
    package let name: String
    /// The scopes of the credentials that opened the source and the overlays. A renderer that has seen a picture of one
    /// scope never serves another.
    package var scopes: Set<RequestScope> = []
    /// Pictures of a lower rank go first, and before those without one.
    package var rank: Int64?
    /// The wall-clock limit from the time a renderer takes the picture; nil for the configuration's.
    package var timeout: Duration?

    package init(_ renditions: [Rendition], of source: OpenFile, named name: String) {
        (self.renditions, self.source, self.name) = (renditions, source, name)
    }

    /// The source and its overlays, in the order of a job's descriptors.
    var files: [OpenFile] { [source] + overlays.map(\.file) }
    /// The kinds of the files' contents.
    var kinds: [SourceKind] { [kind] + overlays.map(\.kind) }
}

/// A picture that renditions draw over the source's: its URI as they spell it, and a regular or memory file, read from its
/// start whatever its offset.
package typealias RenderOverlay = (source: String, file: OpenFile, kind: SourceKind)

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
    /// Whether the processes are `cameo-frames`, whose picture may be smaller than the video, and a roll of frames.
    var makesFrames = false

    /// By default `cameo-renderer` beside this program, one process for each processor that it may use.
    package init(executable: String = sibling("cameo-renderer"), processes: Int = Machine.processors) {
        self.executable = executable
        self.processes = processes
    }

    /// A program beside this one.
    package static func sibling(_ name: String) -> String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: own).deletingLastPathComponent().appending(path: name).path
    }
}

/// What happened to renderer processes so far, and which of them live.
package struct RendererStatistics: Hashable, Sendable {
    package var spawned = 0
    /// Pictures being rendered now.
    package var rendering = 0
    package var pictures = 0
    /// Processes ended because they had served enough pictures or had failed at one.
    package var recycled = 0
    /// Processes killed at a deadline, by a cancellation, or for an answer that failed a check.
    package var killed = 0
    /// Processes that ended by themselves, whatever the reason.
    package var crashed = 0
    /// The ids of the living processes, spares included.
    package var processes: Set<Int32> = []

    package init() {}
}

/// No renderer can be started; the description names the attempt and its error.
package struct RendererUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}
