internal import CameoModel
internal import CameoRenderMessages
internal import Foundation
internal import Glibc

/// One picture with one child: hands it over, waits for the answer, the deadline or a cancellation, and says what
/// becomes of the child.
struct RenderAttempt {
    enum Fate {
        case keep
        /// Ended in good order: it has served enough, or has refused a picture.
        case recycle
        case killed
        /// It ended by itself.
        case died
    }

    let ticket: RenderTicket
    let configuration: RendererConfiguration
    let desk: JobDesk
    let doorbell: Doorbell

    private var limit: Duration { ticket.timeout ?? configuration.timeout }

    func run(with child: inout RendererChild) -> (Result<RenderedPicture, any Error>, Fate) {
        let deadline = Deadline(after: limit)
        let formats = ticket.files.map(PictureFormat.init(sniffing:))
        // libaom has threads of its own, so a second of wall clock may be several of processor time.
        child.allow(processorSeconds: (Int(limit.components.seconds) + 2) * Self.cores)
        do throws(Errno) {
            try child.send(ticket.job(configuration), files: ticket.files)
        } catch {
            return died(&child)
        }
        // Its decoder is not vouched for: whatever the picture has done to the child must not outlive it.
        let isUntrusted = formats.contains { $0.map(PictureFormat.optional.contains) ?? false }
        var reader = ReplyReader(expecting: ReplyExpectation(ticket.renditions, of: formats[0], configuration))
        while true {
            var watch = Watch()
            watch.add(doorbell.descriptor)
            watch.add(child.socket.descriptor)
            if let pipe = child.errorDescriptor { watch.add(pipe) }
            watch.wait(milliseconds: deadline.pollMilliseconds)

            child.errors.drain()
            if watch.isReady(doorbell.descriptor) { doorbell.silence() }
            if desk.isCancelled(ticket.id) {
                child.killAndReap()
                return (.failure(CancellationError()), .killed)
            }
            do throws(MalformedMessage) {
                switch try reader.read(from: child.socket.descriptor) {
                case .incomplete: break
                case .ended: return died(&child)
                case .complete(let reply): return try answered(reply, &child, isUntrusted: isUntrusted)
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

    private static let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    private func answered(
        _ reply: Reply,
        _ child: inout RendererChild,
        isUntrusted: Bool
    ) throws(MalformedMessage) -> (Result<RenderedPicture, any Error>, Fate) {
        let memory = ProcessMemory(of: child.pid)
        switch reply {
        case .hello:
            throw MalformedMessage("a second hello")
        case .refusal(let refusal):
            let failure = RenderFailure.refused(
                refusal,
                source: ticket.name,
                peakBytes: memory?.peakBytes ?? 0,
                limitBytes: configuration.memoryLimitBytes
            )
            return (.failure(failure), .recycle)
        case .picture(let message, let blobs):
            let renditions = zip(message.renditions, blobs).map { rendition, bytes in
                EncodedRendition(
                    bytes: bytes,
                    width: rendition.width,
                    height: rendition.height,
                    format: rendition.format,
                    hasAlpha: rendition.hasAlpha,
                    frames: rendition.frames,
                    placeholder: rendition.placeholder
                )
            }
            let picture = RenderedPicture(
                renditions: renditions,
                source: message.source,
                isTruncated: message.isTruncated,
                rendererVersion: child.version ?? ""
            )
            let hasServedEnough =
                isUntrusted || child.pictures >= configuration.recycleAfterPictures
                || memory.map(hasGrown) ?? true
            return (.success(picture), hasServedEnough ? .recycle : .keep)
        }
    }

    private func hasGrown(_ memory: ProcessMemory) -> Bool {
        memory.residentBytes > configuration.recycleAfterResidentBytes
            || RenderFailure.isExhausted(memory.peakBytes, of: configuration.memoryLimitBytes)
    }

    private func died(_ child: inout RendererChild) -> (Result<RenderedPicture, any Error>, Fate) {
        let failure = RenderFailure.died(
            child.reap(),
            source: ticket.name,
            note: child.errors.deathNote,
            lastWords: child.errors.text,
            limitBytes: configuration.memoryLimitBytes
        )
        return (.failure(failure), .died)
    }
}
