internal import CameoModel
internal import CameoRenderMessages
internal import Glibc

/// Every failure of a render and its sentence. Decided by what the worker saw for itself (its own kill, the wait
/// status, the child's peak memory), then by what the child said.
enum RenderFailure {
    /// Of the memory limit: a failure or death from here on is one of memory, whatever it looks like. Under an
    /// address-space limit libvips ends in a trap, a segmentation fault or a claim that the file is damaged.
    private static let memoryShare = 0.75

    /// The reason is printable already (``RendererSlot/backOff(after:)``), because it is more than a failure's.
    static func cannotStart(_ reason: String, source: String) -> JobFailure {
        // Not the picture's fault: it is worth another attempt when the installation is mended.
        JobFailure(
            .renderFailed,
            at: .render,
            "\(source) could not be rendered: no renderer starts: \(reason)",
            isRetryable: true
        )
    }

    static func timedOut(_ source: String, after limit: Duration) -> JobFailure {
        JobFailure(.renderTimedOut, at: .render, "\(source) took longer to render than the limit of \(seconds(limit))")
    }

    /// An answer that cannot be believed.
    static func misbehaved(_ malformed: MalformedMessage, source: String) -> JobFailure {
        JobFailure(
            .renderFailed,
            at: .render,
            "\(source): the renderer's answer was refused: \(ChildText.printable(malformed.description))"
        )
    }

    /// A job that no renderer would take.
    static func tooLongToAsk(_ source: String, bytes: Int) -> JobFailure {
        let limit = RendererProtocol.maximumMessageBytes
        let message =
            "\(source) cannot be asked for: its renditions and overlays take \(bytes) bytes to say, over the "
            + "renderer's limit of \(limit)"
        return JobFailure(.renderFailed, at: .render, message)
    }

    /// What the child answered.
    static func refused(_ refusal: RefusalMessage, source: String, peakBytes: Int, limitBytes: Int) -> JobFailure {
        let message = "\(source) \(ChildText.printable(refusal.predicate))"
        switch refusal.reason {
        case .tooManyPixels: return JobFailure(.imageTooManyPixels, at: .render, message)
        case .tooManyFrames: return JobFailure(.imageTooManyFrames, at: .render, message)
        case .noSuchPage: return JobFailure(.imageNoSuchPage, at: .render, message)
        case .cropOutside: return JobFailure(.imageCropOutside, at: .render, message)
        case .tooManyBytes: return JobFailure(.renderTooManyBytes, at: .render, message)
        case .outOfMemory: return outOfMemory(source, limitBytes: limitBytes)
        case .unsupportedFormat, .corrupt, .failed:
            // Whatever it was that failed: memory for pixels, for their conversion, for the encoder.
            if isExhausted(peakBytes, of: limitBytes) { return outOfMemory(source, limitBytes: limitBytes) }
            switch refusal.reason {
            case .unsupportedFormat: return JobFailure(.imageUnsupportedFormat, at: .render, message)
            case .corrupt: return JobFailure(.imageCorrupt, at: .render, message)
            default: return JobFailure(.renderFailed, at: .render, message)
            }
        }
    }

    /// The child ended by itself while it rendered.
    ///
    /// The most that was resident is a sign of its own: a child whose handler did not run leaves no note.
    static func died(
        _ end: ChildEnd,
        source: String,
        hasSourceChanged: Bool,
        note: DeathNote?,
        peakResidentBytes: Int,
        lastWords: String,
        limitBytes: Int
    ) -> JobFailure {
        if let note, isExhausted(note.peakBytes, of: limitBytes) || note.errno == ENOMEM {
            return outOfMemory(source, limitBytes: limitBytes)
        }
        if note == nil, end != .killed(signal: SIGXCPU), isExhausted(peakResidentBytes, of: limitBytes) {
            return outOfMemory(source, limitBytes: limitBytes)
        }
        switch end {
        case .killed(SIGXCPU):
            return JobFailure(
                .renderTimedOut,
                at: .render,
                "\(source) took more processor time than its limit to render"
            )
        case .killed(SIGBUS) where hasSourceChanged:
            return JobFailure(.sourceChanged, at: .render, "\(source) was changed while it was read")
        case .killed, .exited, .unknown:
            let words = lastWords.isEmpty ? "" : " (\(ChildText.printable(lastWords, keeping: .end)))"
            return JobFailure(.renderCrashed, at: .render, "\(source) crashed its renderer: \(end)\(words)")
        }
    }

    private static func outOfMemory(_ source: String, limitBytes: Int) -> JobFailure {
        let message = "\(source) needs more memory to render than the limit of \(limitBytes >> 20) MiB"
        return JobFailure(.renderOutOfMemory, at: .render, message)
    }

    /// The peak is one of a process's life: a child that has reached this share renders nothing more, or the next picture
    /// would be blamed for the last one's needs.
    static func isExhausted(_ peakBytes: Int, of limitBytes: Int) -> Bool {
        Double(peakBytes) >= Double(limitBytes) * memoryShare
    }

    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }
}
