internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. However many clients follow the events, each change is read from the store and encoded once. The newest events
// stay in memory for those who keep up; who falls behind, or resumes, reads the store by its cursor. So nothing is ever
// queued for a client, and a slow one costs its own reads only.

/// The changes of jobs' states, read once for all event streams of this process.
final class ChangeFeed: Sendable {
    /// A change, encoded as a server-sent event.
    struct Event: Sendable {
        let change: JobChange
        let text: String
    }

    /// Events after a cursor. See ``FeedPage``.
    typealias Page = (start: FeedCursor, events: [Event], next: FeedCursor, gap: ClosedRange<Int64>?)

    private struct State {
        /// The cursor up to which the feed has read; nil before its first look.
        var last: FeedCursor?
        /// The last end of a batch, by its id.
        var lastEnd: String?
        /// The newest events, of the epoch of `last`; their numbers have no gaps.
        var newest: [Event] = []
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextListener = 0
    }

    /// The most events returned by one read.
    static let page = 500
    /// The number of events that stay in memory.
    private static let window = 2_000
    /// The pause after a look: a busy store costs at most four looks per second, and a client as many writes. The first
    /// change after a pause is sent at once.
    private static let rest = Duration.milliseconds(250)
    /// The longest pause between two looks, as the store may miss the signal of a commit.
    private static let patience = Duration.seconds(1)

    private let store: any ReaderStore
    /// The longest time without a signal.
    private let beat: Duration
    private let state = Mutex(State())
    private let (demand, demands) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(store: any ReaderStore, beat: Duration) {
        self.store = store
        self.beat = beat
    }

    /// Signals changes from now on, one signal for any number of them, and the passing of time, until the stream is finished or
    /// released.
    func listen() -> (signals: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation) {
        let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            return state.nextListener
        }
        continuation.onTermination = { _ in
            self.state.withLock { $0.listeners[number] = nil }
        }
        demands.yield()
        return (signals, continuation)
    }

    /// The events after a cursor, at most a page; none if the feed has seen none yet.
    func events(after cursor: FeedCursor) async throws(StoreError) -> Page {
        let known = state.withLock { state -> Page? in
            guard let last = state.last, cursor != last else { return (cursor, [], cursor, nil) }
            guard cursor.epoch == last.epoch, let first = state.newest.first?.change.cursor,
                (first...last.number).contains(cursor.number + 1)
            else { return nil }
            let events = Array(state.newest[Int(cursor.number + 1 - first)...].prefix(Self.page))
            return (cursor, events, FeedCursor(cursor.number + Int64(events.count), in: last.epoch), nil)
        }
        if let known { return known }
        return try await read(after: cursor)
    }

    /// The first events for a client, after the cursor that it has; nil: the present.
    func read(after cursor: FeedCursor?) async throws(StoreError) -> Page {
        let page = try await store.changes(since: cursor, limit: Self.page)
        do {
            let events = try page.changes.map { change in
                let data = String(decoding: try WireFormat.encode(change), as: UTF8.self)
                let id = FeedCursor(change.cursor, in: page.next.epoch)
                return Event(change: change, text: ServerSentEvent.text("job", data, at: id))
            }
            return (page.start, events, page.next, page.gap)
        } catch {
            throw .failed("\(error)")
        }
    }

    /// Reads changes while anyone listens, until its task is cancelled.
    func run() async {
        for await _ in demand { await follow() }
    }

    private func follow() async {
        let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { ($0.last, $0.newest) = (nil, []) }
        await withTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { [store] in
                for await _ in store.wakeUps(pause: { Self.rest }) { wake.yield() }
            }
            group.addTask { [patience = min(Self.patience, beat)] in
                while (try? await Task.sleep(for: patience)) != nil { wake.yield() }
            }
            var signalled = ContinuousClock.now - beat
            for await _ in wakes {
                let isNews = await look()
                if isNews || signalled.duration(to: .now) >= beat {
                    signalled = .now
                    let listeners = state.withLock { Array($0.listeners.values) }
                    guard !listeners.isEmpty else { return }
                    for listener in listeners { listener.yield() }
                }
                guard (try? await Task.sleep(for: Self.rest)) != nil else { return }
            }
        }
    }

    /// Whether a batch has ended. Who asks for that reads it; those who do not must not miss a change by it.
    private func hasNewEnd() async -> Bool {
        guard let ends = try? await store.batchEnds(since: store.clock.now() - 60, limit: 1_000) else { return false }
        return state.withLock { state in
            defer { state.lastEnd = ends.last?.id }
            return ends.last != nil && ends.last?.id != state.lastEnd
        }
    }

    /// Reads what is new, and returns whether there was anything. A store that cannot be read is looked at again with
    /// the next wake-up.
    private func look() async -> Bool {
        do throws(StoreError) {
            var last = state.withLock { $0.last }
            var isNews = false
            while case let page = try await read(after: last), page.next != last {
                isNews = true
                state.withLock { state in
                    if page.gap != nil || page.next.epoch != last?.epoch { state.newest = [] }
                    state.last = page.next
                    state.newest += page.events
                    if state.newest.count > 2 * Self.window {
                        state.newest.removeFirst(state.newest.count - Self.window)
                    }
                }
                last = page.next
                guard page.events.count == Self.page else { break }
            }
            return await hasNewEnd() || isNews
        } catch {
            return false
        }
    }
}
