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
    private static let patience = Duration.seconds(30)

    private struct CutOff: Error {}

    var responseBody: ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            let progress = Progress()
            let watch = Task { [channel] in
                while true {
                    let seen = progress.pieces
                    try await Task.sleep(for: Self.patience)
                    // This makes the pending write fail.
                    if progress.pieces == seen { return channel.close(promise: nil) }
                }
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
        private let count = Mutex(0)

        var pieces: Int { count.withLock { $0 } }

        func note() { count.withLock { $0 += 1 } }
    }
}
