internal import Foundation
internal import Synchronization

/// Output of a program that runs on, such as its log: whoever writes never waits for a reader. A thread of its own writes
/// to the descriptor. When nobody reads and a megabyte waits, further texts are dropped, and counted until it flows again.
final class UnreadOutput: Sendable {
    private struct State {
        var waiting = Data()
        var dropped = 0
        var isWriting = false
    }

    private static let limit = 1 << 20
    private let descriptor: Int32
    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - descriptor: where the texts go.
    ///   - dropped: says how many texts were lost, once it flows again.
    init(to descriptor: Int32, dropped: @escaping @Sendable (Int) -> Void) {
        self.descriptor = descriptor
        Thread.detachNewThread { [self] in
            while true {
                news.wait()
                writeAll()
                let lost = state.withLock { state in
                    defer { state.dropped = 0 }
                    return state.dropped
                }
                if lost > 0 { dropped(lost) }
            }
        }
    }

    func write(_ text: Data) {
        state.withLock { state in
            if state.waiting.count + text.count <= Self.limit { state.waiting += text } else { state.dropped += 1 }
        }
        news.signal()
    }

    private func writeAll() {
        let text = state.withLock { state in
            defer { (state.waiting, state.isWriting) = (Data(), true) }
            return state.waiting
        }
        // What cannot be written (full disk) is lost, and the program goes on.
        _ = Output.write(text, to: descriptor)
        state.withLock { $0.isWriting = false }
    }

    /// Waits until all is written, but no longer than a reader that is there may take.
    func drain() {
        for _ in 1...200 where state.withLock({ !$0.waiting.isEmpty || $0.isWriting }) { usleep(5_000) }
    }
}
