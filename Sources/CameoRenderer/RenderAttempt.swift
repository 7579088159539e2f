internal import CameoModel
internal import CameoRenderMessages
internal import CameoSystem
internal import Foundation
internal import Glibc

/// One picture with one child: sends the job, waits for the answer, the deadline or a cancellation, and decides
/// what becomes of the child.
struct RenderAttempt {
    enum Fate {
        case keep
        /// Ends the child in good order: it has served enough, or has refused what a decoder has seen.
        case recycle
        case killed
        /// The child ended by itself.
        case died
    }

    let ticket: RenderTicket
    let configuration: RendererConfiguration
    let desk: JobDesk
    let doorbell: Doorbell

    var request: RenderRequest { ticket.request }
    var limit: Duration { request.timeout ?? configuration.timeout }

    func run(with child: inout RendererChild) -> (Result<RenderedPicture, any Error>, Fate) {
        let frame = ticket.job(configuration).frame
        guard frame.count - FrameHeader.byteCount <= RendererProtocol.maximumMessageBytes else {
            return (.failure(tooLongToAsk(bytes: frame.count)), .keep)
        }
        let deadline = Deadline(after: limit)
        let formats = zip(request.files, request.kinds).map(PictureFormat.init(of:holding:))
        let files = request.files.map(FileState.init)
        // libaom has threads of its own, so one second of wall clock may be several of processor time.
        child.allow(processorSeconds: (Int(limit.components.seconds) + 2) * Self.cores)
        child.pictures += 1
        var sender = JobSender(frame, files: request.files)
        // Optional decoders are not trusted: whatever the picture did to the child must not outlive it.
        let isUntrusted = formats.contains { $0.map(PictureFormat.optional.contains) ?? false }
        let (renditions, format) = (request.renditions, formats[0])
        var reader = ReplyReader(
            expecting: ReplyExpectation(renditions: renditions, sourceFormat: format, configuration: configuration)
        )
        var nextLook = Deadline(after: Self.lookInterval)
        while true {
            do throws(Errno) {
                try sender.send(to: child.socket.descriptor)
            } catch {
                return died(&child, files)
            }
            var watch = PollSet(doorbell.descriptor, child.errorDescriptor)
            watch.add(child.socket.descriptor, alsoForWriting: !sender.isDone)
            watch.wait(milliseconds: min(deadline.pollMilliseconds, nextLook.pollMilliseconds))

            child.errors.drain()
            if watch.isReady(doorbell.descriptor) { doorbell.silence() }
            if desk.with({ $0.isCancelled(ticket.id) }) {
                child.killAndReap()
                return (.failure(CancellationError()), .killed)
            }
            do throws(MalformedMessage) {
                switch try reader.read(from: child.socket.descriptor) {
                case .incomplete: break
                case .ended: return died(&child, files)
                case .complete(let reply):
                    guard sender.isDone else { throw MalformedMessage("it answered before it had read its job") }
                    let isNoPicture = formats[0] == nil && !files.contains(where: \.hasChanged)
                    return try answered(reply, &child, isUntrusted: isUntrusted, isNoPicture: isNoPicture)
                }
                if nextLook.hasPassed {
                    nextLook = Deadline(after: Self.lookInterval)
                    try child.checkThreads()
                }
            } catch {
                child.killAndReap()
                return (.failure(RenderFailure.misbehaved(error, source: request.name)), .killed)
            }
            if deadline.hasPassed {
                child.abortAndReap()
                return (.failure(timedOut(child.errors.deathNote)), .killed)
            }
        }
    }

    /// How often a rendering child is checked: it can start some ten threads in a millisecond.
    private static let lookInterval = Duration.milliseconds(20)
    static let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    func answered(
        _ reply: Reply,
        _ child: inout RendererChild,
        isUntrusted: Bool,
        isNoPicture: Bool
    ) throws(MalformedMessage) -> (Result<RenderedPicture, any Error>, Fate) {
        let memory = ProcessMemory(of: child.pid)
        try child.checkThreads()
        switch reply {
        case .hello:
            throw MalformedMessage("a second hello")
        case .refusal(let refusal) where refusal.reason == .bytesMissing:
            guard request.kind == .partialVideo else { throw MalformedMessage("it lacks bytes that are there") }
            return (
                .failure(MissingBytes(offsets: Set(refusal.missing))), hasServedEnough(child, memory) ? .recycle : .keep
            )
        case .refusal(let refusal):
            let failure = refused(refusal, peakBytes: memory?.peakBytes ?? 0)
            // No decoder has seen what the worker itself takes for no picture.
            let isUnseen = isNoPicture && refusal.reason == .unsupportedFormat
            return (.failure(failure), isUnseen && !hasServedEnough(child, memory) ? .keep : .recycle)
        case .picture(var picture):
            picture.rendererVersion = child.greeting?.rendererVersion ?? ""
            return (.success(picture), isUntrusted || hasServedEnough(child, memory) ? .recycle : .keep)
        }
    }

    private func hasServedEnough(_ child: borrowing RendererChild, _ memory: ProcessMemory?) -> Bool {
        guard child.pictures < configuration.recycleAfterPictures, let memory else { return true }
        return memory.residentBytes > configuration.recycleAfterResidentBytes
            || isExhausted(memory.peakBytes)
    }

    func died(_ child: inout RendererChild, _ files: [FileState]) -> (Result<RenderedPicture, any Error>, Fate) {
        let end = child.reap()
        if end.isByOthers, desk.isEnding { return (.failure(CancellationError()), .died) }
        return (.failure(failure(of: child, end, hasSourceChanged: files.contains(where: \.hasChanged))), .died)
    }
}

/// Tells whether a file changed while a child read it through a mapping, where truncation causes SIGBUS.
struct FileState {
    private let file: OpenFile
    /// Nil for files that cannot be truncated: sealed memory files and anything but regular files.
    private let before: FileSnapshot?

    /// F_GET_SEALS and F_SEAL_SHRINK of fcntl(2), which the Glibc module does not export.
    private static let getSeals: Int32 = 1_034
    private static let sealShrink: Int32 = 0x2

    init(_ file: OpenFile) {
        // -1 (EINVAL) for a file that does not support seals.
        let seals = fcntl(file.descriptor, Self.getSeals)
        let mayShrink = seals < 0 || seals & Self.sealShrink == 0
        self.file = file
        before = file.status().flatMap { mayShrink && $0.st_mode & S_IFMT == S_IFREG ? FileSnapshot($0) : nil }
    }

    var hasChanged: Bool {
        guard let before, let status = file.status() else { return false }
        return FileSnapshot(status) != before
    }
}

/// A moment at which waiting ends. Time while the machine is suspended does not count.
struct Deadline {
    private let end: SuspendingClock.Instant

    init(after duration: Duration) { end = SuspendingClock.now.advanced(by: duration) }

    var hasPassed: Bool { SuspendingClock.now >= end }

    /// The remaining milliseconds for poll(2), rounded up, so that a poll never ends just before the deadline.
    var pollMilliseconds: Int32 {
        let left = SuspendingClock.now.duration(to: end)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        return Int32(clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

extension PictureFormat {
    /// The format of a file for a renderer; nil if it is unsupported or the file cannot be read.
    init?(of file: OpenFile, holding kind: SourceKind) {
        switch kind {
        case .file: self.init(sniffing: file)
        case .initials: self = .initials
        case .video, .partialVideo: self = .video
        }
    }
}
