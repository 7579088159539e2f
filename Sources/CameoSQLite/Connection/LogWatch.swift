package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. inotify reports when any process writes to the write-ahead log. The commit follows some milliseconds later,
// after its sync, so a few checks of `PRAGMA data_version` follow at doubling intervals. After an event the watch pauses,
// so that a busy store costs few checks. Callers also poll occasionally, because events may be missing where the kernel
// has no watches left. A dispatch source reports to a queue, which also does the delayed checks.
//
// @unchecked: `version` and `event` are used on `queue` only, and a dispatch source may be used from any thread.
final class LogWatch: @unchecked Sendable {
    /// The number of checks after an event, at doubling intervals; the last one comes half a second later.
    private static let looks = 9

    private let queue = DispatchQueue(label: "cameo.log-watch", qos: .userInitiated)
    /// The value of `PRAGMA data_version` on a connection of its own; nil if it cannot be read now.
    private let currentVersion: @Sendable () -> Int?
    private let files: [String]
    /// The time between an event and the next one that is noticed.
    private let pause: @Sendable () -> Duration
    private let notify: @Sendable () -> Void
    private let descriptor: Int32
    private let source: any DispatchSourceProtocol
    private var version: Int?
    /// The number of the last event; checks that belong to an earlier one are abandoned.
    private var event = 0

    /// Calls `notify` on its own queue after commits, until it is stopped.
    init(
        of directory: StoreDirectory,
        pause: @escaping @Sendable () -> Duration,
        version: @escaping @Sendable () -> Int?,
        notify: @escaping @Sendable () -> Void
    ) {
        currentVersion = version
        self.pause = pause
        self.notify = notify
        files = [directory.path, directory.writeAheadLog]
        descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        if descriptor >= 0 {
            source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        } else {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now(), repeating: .milliseconds(25), leeway: .milliseconds(5))
            source = timer
        }
    }

    /// Starts watching, and notifies once. The instance retains itself until ``stop()``.
    func start() {
        let descriptor = descriptor
        source.setEventHandler { self.eventCame() }
        source.setCancelHandler { if descriptor >= 0 { close(descriptor) } }
        watchFiles()
        queue.async {
            // Whoever was notified may commit at once, which must be told from what was there before.
            self.version = self.currentVersion()
            self.notify()
        }
        source.activate()
    }

    func stop() {
        queue.async {
            self.source.setEventHandler(handler: nil)
            self.source.cancel()
        }
    }

    /// Watches the folder too, because the log is recreated when the database is opened after the last connection
    /// closed.
    private func watchFiles() {
        guard descriptor >= 0 else { return }
        inotify_add_watch(descriptor, files[0], UInt32(IN_CREATE) | UInt32(IN_MOVED_TO))
        inotify_add_watch(descriptor, files[1], UInt32(IN_MODIFY))
    }

    private func eventCame() {
        if descriptor >= 0 {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while read(descriptor, &bytes, bytes.count) > 0 {}
            watchFiles()
            source.suspend()
            queue.asyncAfter(deadline: .now() + .milliseconds(Int(pause() / .milliseconds(1)))) { self.source.resume() }
        }
        event += 1
        look(0, after: event)
    }

    private func look(_ number: Int, after event: Int) {
        guard event == self.event else { return }
        if let found = currentVersion(), found != version {
            if version != nil { notify() }
            version = found
        }
        guard event > 0, number < Self.looks, !source.isCancelled else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(1 << number)) { self.look(number + 1, after: event) }
    }
}

// How others notice commits.
extension SQLiteStore {
    package func wakeUps(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let watch = LogWatch(
            of: directory,
            pause: pause,
            version: { try? self.watching().sync { db in try db.dataVersion } },
            notify: { continuation.yield() }
        )
        continuation.onTermination = { _ in watch.stop() }
        watch.start()
        return stream
    }

    package func version() async throws(StoreError) -> Int {
        // Outside a transaction: inside one the value would never change.
        try await mapping { try await watching().run { db in try db.dataVersion } }
    }

    package func contentAtOnce(of id: ThumbnailID) -> StoredContent? {
        let idle = idleReaders.withLock { $0.popLast() }
        guard let connection = try? idle ?? ConnectionQueue(directory.database, readAccess) else { return nil }
        defer { idleReaders.withLock { $0.append(connection) } }
        return try? connection.sync { db in
            try SQLiteTransaction(db, self.directory, clock: self.clock).content(of: id)
        }
    }

    private func watching() throws -> ConnectionQueue {
        try watcher.withLock { watcher in
            if let watcher { return watcher }
            let opened = try ConnectionQueue(directory.database, readAccess)
            watcher = opened
            return opened
        }
    }
}

extension SQLiteConnection {
    /// A number that changes when another connection has committed. Reading it takes microseconds.
    var dataVersion: Int {
        get throws { try value("PRAGMA data_version") ?? 0 }
    }
}
