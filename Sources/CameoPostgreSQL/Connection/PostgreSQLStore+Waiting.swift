package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    /// How often streams of wake-ups look at the store's version themselves.
    private static let interval = Duration.milliseconds(250)

    package func wakeUps(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (notified, notifier) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (listener, reads, sql) = (listener, reads, versionStatement)
        let waker = listener.add { notifier.yield() }
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    continuation.yield()
                    for await _ in notified {
                        continuation.yield()
                        // Only the stream's end cancels this.
                        try? await Task.sleep(for: pause())
                    }
                }
                group.addTask {
                    var last: Int64?
                    while !Task.isCancelled {
                        // A server that cannot be reached has nothing new.
                        let version = try? await reads.value(sql)
                        // The first look counts too: there may have been a commit between the first yield and it.
                        let hasChanged = version != nil && version != last
                        if hasChanged { notifier.yield() }
                        last = version ?? last
                        try? await Task.sleep(for: max(Self.interval, pause()))
                    }
                }
            }
        }
        continuation.onTermination = { _ in
            listener.remove(waker)
            notifier.finish()
            task.cancel()
        }
        return stream
    }

    package func version() async throws(StoreError) -> Int {
        do {
            return Int(try await reads.value(versionStatement))
        } catch {
            throw StoreError(error, location: location)
        }
    }

    /// The numbered changes and those without a number only grow together; so does every other term. Whoever cannot number
    /// changes sees one once it has its number, which is news then.
    private var versionStatement: String {
        let schema = url.schema
        let news = canNumberChanges ? "" : " + last"
        return """
            SELECT (SELECT sum(value)::bigint FROM \(schema).sequence)
              + (SELECT last\(news) + coalesce((SELECT sum(cardinality(jobs)) FROM \(schema).new_change WHERE entry > low), 0)
                FROM \(schema).feed)
              + (SELECT coalesce(max(id), 0) FROM \(schema).job)
            """
    }

    package func finish() async {
        await recordReadings()
        await errands.finish()
        let (writes, claims) = (writes, claims)
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async {
                writes?.drain()
                claims?.drain()
                continuation.resume()
            }
        }
    }

    package func close() {
        writes?.drain()
        claims?.drain()
    }
}
