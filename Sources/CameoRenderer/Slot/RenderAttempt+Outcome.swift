internal import CameoModel
internal import CameoRenderMessages
internal import Foundation

extension RenderAttempt {
    func answered(
        _ reply: Reply,
        _ child: inout RendererChild,
        isUntrusted: Bool
    ) throws(MalformedMessage) -> (Result<RenderedPicture, any Error>, Fate) {
        let memory = ProcessMemory(of: child.pid)
        try child.checkThreads()
        switch reply {
        case .hello:
            throw MalformedMessage("a second hello")
        case .refusal(let refusal) where refusal.reason == .bytesMissing:
            guard ticket.kind == .partialVideo else { throw MalformedMessage("it lacks bytes that are there") }
            return (
                .failure(MissingBytes(offsets: Set(refusal.missing))), hasServedEnough(child, memory) ? .recycle : .keep
            )
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
            return (.success(picture), isUntrusted || hasServedEnough(child, memory) ? .recycle : .keep)
        }
    }

    private func hasServedEnough(_ child: borrowing RendererChild, _ memory: ProcessMemory?) -> Bool {
        child.pictures >= configuration.recycleAfterPictures || memory.map(hasGrown) ?? true
    }

    private func hasGrown(_ memory: ProcessMemory) -> Bool {
        memory.residentBytes > configuration.recycleAfterResidentBytes
            || RenderFailure.isExhausted(memory.peakBytes, of: configuration.memoryLimitBytes)
    }

    func died(
        _ child: inout RendererChild,
        _ filesBefore: [FileState]
    ) -> (Result<RenderedPicture, any Error>, Fate) {
        let end = child.reap()
        if end.isByOthers, desk.isEnding { return (.failure(CancellationError()), .died) }
        let failure = RenderFailure.died(
            end,
            source: ticket.name,
            hasSourceChanged: zip(ticket.files, filesBefore).contains { $1.hasChanged($0) },
            note: child.errors.deathNote,
            peakResidentBytes: child.peakResidentBytes,
            lastWords: child.errors.text,
            limitBytes: configuration.memoryLimitBytes
        )
        return (.failure(failure), .died)
    }
}
