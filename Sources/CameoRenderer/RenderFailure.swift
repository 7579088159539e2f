internal import CameoModel
internal import CameoRenderMessages
internal import CameoSystem
internal import Glibc

/// Failures for which no attempt is to blame.
enum RenderFailure {
    /// The reason is already printable (``RendererSlot/backOff(after:)``), because it is also reported elsewhere.
    static func cannotStart(_ reason: String, source: String) -> JobFailure {
        // Not the picture's fault, so another attempt is worth it once the installation is repaired.
        JobFailure(
            .renderFailed,
            at: .render,
            "\(source) could not be rendered: no renderer can be started: \(reason)",
            isRetryable: true,
            isShortage: Errno.ofDescriptors != nil
        )
    }

    /// An answer that failed a check.
    static func misbehaved(_ malformed: MalformedMessage, source: String) -> JobFailure {
        JobFailure(
            .renderFailed,
            at: .render,
            "\(source): the renderer's answer was rejected: \(ChildText.printable(malformed.description))"
        )
    }
}

// What the worker observed itself (its own kill, the wait status, the child's peak memory) takes precedence over what the
// child said.
extension RenderAttempt {
    /// The share of the memory limit above which any failure or death counts as memory exhaustion. Under an
    /// address-space limit libvips ends in a trap, a segmentation fault or a claim that the file is damaged.
    private static let memoryShare = 0.75

    /// `note` is what the child left when it was ended.
    func timedOut(_ note: DeathNote?) -> JobFailure {
        let milliseconds = limit.milliseconds
        let text = milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
        let message = "\(request.name) took longer to render than the limit of \(text)\(place(in: note))"
        return JobFailure(.renderTimedOut, at: .render, message)
    }

    /// Names the rendition that was being made, if that says more than that there was one.
    private func place(in note: DeathNote?) -> String {
        guard let index = note?.rendition, request.renditions.count > 1, request.renditions.indices.contains(index)
        else { return "" }
        return ", while it made \(request.renditions[index].name)"
    }

    /// A job message that is too long for any renderer.
    func tooLongToAsk(bytes: Int) -> JobFailure {
        let limit = RendererProtocol.maximumMessageBytes
        let message =
            "\(request.name) cannot be rendered: its renditions and overlays take a message of \(bytes) bytes, over the "
            + "renderer's limit of \(limit)"
        return JobFailure(.renderFailed, at: .render, message)
    }

    /// The child refused the picture.
    func refused(_ refusal: RefusalMessage, peakBytes: Int) -> JobFailure {
        let code: JobFailure.Code
        switch refusal.reason {
        case .tooManyPixels: code = .imageTooManyPixels
        case .tooManyFrames: code = .imageTooManyFrames
        case .noSuchPage: code = .imageNoSuchPage
        case .cropOutside: code = .imageCropOutside
        case .noPicture: code = .videoNoPicture
        case .unsupportedCodec: code = .videoUnsupportedCodec
        case .encrypted: code = .videoEncrypted
        case .tooManyBytes: code = .renderTooManyBytes
        case .outOfMemory: return outOfMemory
        case .unsupportedFormat: code = .imageUnsupportedFormat
        case .corrupt: code = .imageCorrupt
        case .failed, .bytesMissing: code = .renderFailed
        }
        // Whatever failed, memory for pixels, for their conversion or for the encoder was lacking.
        if [.imageUnsupportedFormat, .imageCorrupt, .renderFailed].contains(code), isExhausted(peakBytes) {
            return outOfMemory
        }
        return JobFailure(code, at: .render, "\(request.name) \(ChildText.printable(refusal.predicate))")
    }

    /// The child ended by itself while it rendered.
    ///
    /// The peak resident memory counts only without a note, when the child's crash handler did not run.
    func failure(of child: borrowing RendererChild, _ end: ChildEnd, hasSourceChanged: Bool) -> JobFailure {
        let (source, note) = (request.name, child.errors.deathNote)
        if let note, end != .killed(signal: SIGXCPU), isExhausted(note.peakBytes) || note.errno == ENOMEM {
            return outOfMemory
        }
        if note == nil, end != .killed(signal: SIGXCPU), isExhausted(child.peakResidentBytes) { return outOfMemory }
        switch end {
        case .killed(SIGXCPU):
            let message = "\(source) took more processor time to render than its limit\(place(in: note))"
            return JobFailure(.renderTimedOut, at: .render, message)
        case .killed(SIGBUS) where hasSourceChanged:
            return JobFailure(.sourceChanged, at: .render, "\(source) was changed while it was read")
        case .killed, .exited, .unknown:
            let lastWords = child.errors.text
            let words = lastWords.isEmpty ? "" : " (\(ChildText.printable(lastWords, keeping: .end)))"
            let message = "\(source) crashed its renderer: \(end)\(words)\(place(in: note))"
            return JobFailure(.renderCrashed, at: .render, message)
        }
    }

    private var outOfMemory: JobFailure {
        let limit = "\(configuration.memoryLimitBytes >> 20) MiB"
        let message = "\(request.name) needs more memory to render than the limit of \(limit)"
        return JobFailure(.renderOutOfMemory, at: .render, message)
    }

    /// Whether the peak has reached that share of the limit. The peak is one of the process's whole life, so such a
    /// child must render nothing more, or the next picture would be blamed for the last one's needs.
    func isExhausted(_ peakBytes: Int) -> Bool {
        Double(peakBytes) >= Double(configuration.memoryLimitBytes) * Self.memoryShare
    }
}
