internal import CameoModel
internal import CameoRenderMessages
internal import Foundation
internal import Glibc

/// One picture with one child: sends the job, waits for the answer, the deadline or a cancellation, and decides the
/// child's fate.
struct RenderAttempt {
    enum Fate {
        case keep
        /// Ends the child in good order: it has served enough, or has refused a picture.
        case recycle
        case killed
        /// The child ended by itself.
        case died
    }

    let ticket: RenderTicket
    let configuration: RendererConfiguration
    let desk: JobDesk
    let doorbell: Doorbell

    private var limit: Duration { ticket.timeout ?? configuration.timeout }

    func run(with child: inout RendererChild) -> (Result<RenderedPicture, any Error>, Fate) {
        let frame = ticket.job(configuration).frame
        guard frame.count - FrameHeader.byteCount <= RendererProtocol.maximumMessageBytes else {
            return (.failure(RenderFailure.tooLongToAsk(ticket.name, bytes: frame.count)), .keep)
        }
        let deadline = Deadline(after: limit)
        let formats = zip(ticket.files, ticket.kinds).map(PictureFormat.init(of:holding:))
        let filesBefore = ticket.files.map(FileState.init)
        // libaom has threads of its own, so one second of wall clock may be several of processor time.
        child.allow(processorSeconds: (Int(limit.components.seconds) + 2) * Self.cores)
        child.beginPicture()
        var sender = JobSender(frame, files: ticket.files)
        // Optional decoders are not trusted: whatever the picture did to the child must not outlive it.
        let isUntrusted = formats.contains { $0.map(PictureFormat.optional.contains) ?? false }
        var reader = ReplyReader(expecting: ReplyExpectation(ticket.renditions, of: formats[0], configuration))
        var nextLook = Deadline(after: Self.lookInterval)
        while true {
            do throws(Errno) {
                try sender.send(to: child.socket.descriptor)
            } catch {
                return died(&child, filesBefore)
            }
            var watch = Watch()
            watch.add(doorbell.descriptor)
            watch.add(child.socket.descriptor, alsoForWriting: !sender.isDone)
            if let pipe = child.errorDescriptor { watch.add(pipe) }
            watch.wait(milliseconds: min(deadline.pollMilliseconds, nextLook.pollMilliseconds))

            child.errors.drain()
            if watch.isReady(doorbell.descriptor) { doorbell.silence() }
            if desk.isCancelled(ticket.id) {
                child.killAndReap()
                return (.failure(CancellationError()), .killed)
            }
            do throws(MalformedMessage) {
                switch try reader.read(from: child.socket.descriptor) {
                case .incomplete: break
                case .ended: return died(&child, filesBefore)
                case .complete(let reply):
                    guard sender.isDone else { throw MalformedMessage("it answered before it had read its job") }
                    return try answered(reply, &child, isUntrusted: isUntrusted)
                }
                if nextLook.hasPassed {
                    nextLook = Deadline(after: Self.lookInterval)
                    try child.checkThreads()
                }
            } catch {
                child.killAndReap()
                return (.failure(RenderFailure.misbehaved(error, source: ticket.name)), .killed)
            }
            if deadline.hasPassed {
                child.killAndReap()
                return (.failure(RenderFailure.timedOut(ticket.name, after: limit)), .killed)
            }
        }
    }

    /// How often a rendering child is checked: it can start some ten threads in a millisecond.
    private static let lookInterval = Duration.milliseconds(20)
    static let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
