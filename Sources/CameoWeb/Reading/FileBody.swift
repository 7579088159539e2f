internal import CameoModel
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// A range of a file, sent piece by piece as fast as the client accepts it.
struct FileBody: Sendable {
    let file: OpenFile
    let range: Range<Int>
    let files: VerifiedFiles
    let channel: any Channel

    /// How long a client may accept no piece before its connection is closed.
    private static let patience = TimeAmount.seconds(30)

    private struct CutOff: Error {}

    var responseBody: ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            let progress = Progress()
            // The event loop drops a cancelled timer at once. Swift would keep a cancelled sleep until its time.
            let watch = channel.eventLoop.scheduleRepeatedTask(initialDelay: Self.patience, delay: Self.patience) {
                [channel] _ in
                // This makes the pending write fail.
                if progress.hasStopped() { channel.close(promise: nil) }
            }
            defer { watch.cancel() }
            for start in stride(from: range.lowerBound, to: range.upperBound, by: VerifiedFiles.piece) {
                let piece = start..<min(start + VerifiedFiles.piece, range.upperBound)
                let bytes = await files.read(file, piece)
                // The length has been announced: closing tells the client that bytes are missing.
                guard bytes.count == piece.count else {
                    channel.close(promise: nil)
                    throw CutOff()
                }
                try await writer.write(ByteBuffer(bytes: bytes))
                progress.note()
            }
            try await writer.finish(nil)
        }
    }

    private final class Progress: Sendable {
        private struct State {
            var pieces = 0
            var seen = 0
        }

        private let state = Mutex(State())

        func note() { state.withLock { $0.pieces += 1 } }

        /// Whether no piece was accepted since the last call.
        func hasStopped() -> Bool {
            state.withLock { state in
                defer { state.seen = state.pieces }
                return state.pieces == state.seen
            }
        }
    }
}
