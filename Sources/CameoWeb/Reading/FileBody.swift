internal import CameoModel
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// A part of a file that is sent piece by piece, as fast as the client takes it.
struct FileBody: Sendable {
    let file: OpenFile
    let range: Range<Int>
    let files: VerifiedFiles
    let channel: any Channel

    /// How long a client may take nothing at all.
    private static let patience = Duration.seconds(30)

    private struct CutOff: Error {}

    var responseBody: ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            let progress = Progress()
            let watch = Task { [channel] in
                while true {
                    let seen = progress.pieces
                    try await Task.sleep(for: Self.patience)
                    // The write that waits for the client then fails.
                    if progress.pieces == seen { return channel.close(promise: nil) }
                }
            }
            defer { watch.cancel() }
            for start in stride(from: range.lowerBound, to: range.upperBound, by: VerifiedFiles.piece) {
                let piece = start..<min(start + VerifiedFiles.piece, range.upperBound)
                let bytes = await files.read(file, piece)
                // The length is promised: the client is to see that something is missing.
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
