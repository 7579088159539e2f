internal import Dispatch
internal import Glibc

/// What a watch reacts to.
enum WatchEvent: Sendable {
    /// It is time to read the status.
    case due
    case resized
    case key(UInt8)
    /// The keyboard is gone.
    case closed
    case ended(signal: Int32)
}

/// The signals, keys and times of a watch, one after the other.
struct WatchEvents {
    private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    let stream: AsyncStream<WatchEvent>
    private let continuation: AsyncStream<WatchEvent>.Continuation
    private let queue = DispatchQueue(label: "cameo.watch")
    /// Kept, because a source that is released reports nothing more.
    private var sources: [any DispatchSourceProtocol] = []

    /// Returns when no signal has its default effect any more.
    init(readingKeys: Bool) async {
        (stream, continuation) = AsyncStream.makeStream()
        for signal in [SIGWINCH] + Self.endings {
            let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
            let event: WatchEvent = signal == SIGWINCH ? .resized : .ended(signal: signal)
            source.setEventHandler { [continuation] in continuation.yield(event) }
            sources.append(source)
        }
        if readingKeys {
            let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
            source.setEventHandler { [continuation] in
                var byte: UInt8 = 0
                continuation.yield(read(STDIN_FILENO, &byte, 1) == 1 ? .key(byte) : .closed)
            }
            sources.append(source)
        }
        let registered = DispatchGroup()
        for source in sources {
            registered.enter()
            source.setRegistrationHandler { registered.leave() }
            source.resume()
        }
        await withCheckedContinuation { all in registered.notify(queue: queue) { all.resume() } }
    }

    /// Reports ``WatchEvent/due`` after this time.
    func setTimer(_ seconds: Double) {
        queue.asyncAfter(deadline: .now() + seconds) { [continuation] in continuation.yield(.due) }
    }
}
