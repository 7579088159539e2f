package import CameoFetch
package import CameoModel
package import CameoStore
package import CameoSystem
package import Foundation
package import Logging
internal import Synchronization

// DESIGN. One loop claims what is due and starts a task for each delivery. It sleeps until something may have changed: a
// commit, the worker's sweep, or a delivery that ended. Each hook has its own number of deliveries at once, so that a slow
// receiver holds up neither another hook nor a job. Without hooks the loop never looks into the store.

/// Delivers the ends of jobs and batches to the hooks of a worker.
package final class HookDeliverer: Sendable {
    private struct State {
        var settings: HookSettings
        /// Whether the store has yet to be told the names of the hooks.
        var isNew: Bool
        /// Deliveries under way, by hook.
        var running: [String: Int] = [:]
        /// How it is to end: `drains` says whether what is due is still claimed.
        var ending: (drains: Bool, grace: Duration?)?
        var isOverdue = false
    }

    /// Failures that are retried: a receiver's restart is over soon, its repair after hours.
    private static let policy = RetryPolicy(base: .seconds(5), cap: .seconds(3_600))
    /// The pause before the store is asked again to record an end.
    private static let pause = Duration.seconds(1)

    private let store: any WorkerStore
    private let client: PostClient
    private let logger: Logger
    private let random: @Sendable () -> Double
    private let state: Mutex<State>
    private let wakeUps: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    /// `random` gives numbers in 0…1, for the jitter of retries.
    package init(
        _ settings: HookSettings,
        store: any WorkerStore,
        client: PostClient,
        logger: Logger,
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        (self.store, self.client, self.logger, self.random) = (store, client, logger, random)
        state = Mutex(State(settings: settings, isNew: !settings.receivers.isEmpty))
        (wakeUps, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Makes deliveries that begin from now on use other settings.
    package func use(_ settings: HookSettings) {
        state.withLock { ($0.settings, $0.isNew) = (settings, true) }
        waker.yield()
    }

    /// Makes the loop look for deliveries, unless there are no hooks.
    package func wake() {
        if state.withLock({ !$0.settings.receivers.isEmpty }) { waker.yield() }
    }

    /// Makes ``run(as:)`` return once the deliveries under way have ended; those that go on beyond the grace are given back.
    /// A deliverer that drains still makes the deliveries that are due, unless another call ends it sooner. Nil waits for as
    /// long as they take.
    package func end(draining drains: Bool, within grace: Duration?) {
        state.withLock { state in
            if state.ending == nil || !drains { state.ending = (drains, grace) }
            if grace == .zero { state.isOverdue = true }
        }
        waker.yield()
    }

    /// Delivers until ``end(draining:within:)``, or until its task is cancelled; then what is under way is given back.
    package func run(as worker: String) async {
        await withDiscardingTaskGroup { group in
            var hasTimer = false
            waker.yield()
            for await _ in wakeUps {
                let (ending, isOverdue) = state.withLock { ($0.ending, $0.isOverdue) }
                if let grace = ending?.grace, !hasTimer {
                    hasTimer = true
                    group.addTask {
                        guard (try? await Task.sleep(for: grace)) != nil else { return }
                        self.state.withLock { $0.isOverdue = true }
                        self.waker.yield()
                    }
                }
                if isOverdue { break }
                let mayBeMore = ending?.drains ?? true ? await start(as: worker, in: &group) : false
                if ending != nil, !mayBeMore, state.withLock({ $0.running.isEmpty }) { break }
            }
            group.cancelAll()
        }
    }

    // MARK: - Claiming

    /// Claims what is due and starts to deliver it.
    ///
    /// - Returns: whether more may be due: something was, or something was under way.
    private func start(as worker: String, in group: inout DiscardingTaskGroup) async -> Bool {
        let (settings, isNew, running) = state.withLock { ($0.settings, $0.isNew, $0.running) }
        do throws(StoreError) {
            if isNew {
                try await store.note(hooks: settings.names, of: worker)
                state.withLock { if $0.settings.names == settings.names { $0.isNew = false } }
            }
            let room = settings.receivers.mapValues { $0.hook.concurrency - running[$0.hook.name, default: 0] }
            let claimed = try await store.claimDeliveries(room.filter { $0.value > 0 }, for: worker)
            for delivery in claimed {
                guard let receiver = settings.receivers[delivery.hook] else { continue }
                state.withLock { $0.running[delivery.hook, default: 0] += 1 }
                group.addTask {
                    await self.deliver(delivery, to: receiver)
                    self.state.withLock { state in
                        let count = state.running[delivery.hook, default: 1] - 1
                        state.running[delivery.hook] = count > 0 ? count : nil
                    }
                    self.waker.yield()
                }
            }
            // Without room nothing was looked for.
            return !claimed.isEmpty || !running.isEmpty
        } catch {
            // The worker itself says what is wrong with the store.
            logger.debug("cannot claim deliveries", metadata: ["reason": "\(error)"])
            return false
        }
    }

    // MARK: - Delivering

    private func deliver(_ delivery: ClaimedDelivery, to receiver: HookSettings.Receiver) async {
        let end: DeliveryEnd
        let begun = store.clock.now()
        do {
            let message = try WireFormat.encode(try await store.message(of: delivery))
            let trouble = try await send(message, of: delivery, to: receiver)
            end = trouble.map { failure(of: delivery, receiver.hook, begun, $0) } ?? .delivered
        } catch is CancellationError {
            end = .release
        } catch {
            end = failure(of: delivery, receiver.hook, begun, "\(error)")
        }
        await record(end, of: delivery)
    }

    /// Tries until the store takes it, because nobody else claims a delivery of a worker that is alive. A worker that ends
    /// does not: what it could not record is delivered again.
    private func record(_ end: DeliveryEnd, of delivery: ClaimedDelivery) async {
        for refusals in 0... {
            do throws(StoreError) {
                try await store.settle(delivery, as: end)
                return log(delivery, end)
            } catch {
                var isOver = state.withLock { $0.ending != nil }
                if case .leaseLost = error { isOver = true }
                if refusals == 0 || isOver {
                    let metadata = Self.metadata(of: delivery).merging(["reason": "\(error)"]) { $1 }
                    logger.warning("the end of a delivery was not recorded", metadata: metadata)
                }
                guard !isOver, (try? await Task.sleep(for: Self.pause)) != nil else { return }
            }
        }
    }

    private func send(
        _ message: Data,
        of delivery: ClaimedDelivery,
        to receiver: HookSettings.Receiver
    ) async throws -> String? {
        let timeout = Duration.seconds(receiver.hook.timeout)
        switch receiver.way {
        case .command(let arguments): return try await HookCommand.run(arguments, input: message, timeout: timeout)
        case .post(let target, let keys):
            let signature = WebhookSignature.headers(
                id: delivery.id,
                time: store.clock.now(),
                body: message,
                keys: keys
            )
            return try await client.post(
                message,
                to: target,
                headers: [("Content-Type", "application/json")] + signature,
                timeout: timeout
            )
        }
    }

    /// The age counts up to the try's beginning: a worker that stood still during it, such as a suspended machine, tries again.
    private func failure(of delivery: ClaimedDelivery, _ hook: Hook, _ begun: Date, _ trouble: String) -> DeliveryEnd {
        let delay = Self.policy.adjusted(to: hook.retry).delay(afterFailures: delivery.failures + 1, chance: random())
        let isOver = begun.timeIntervalSince(delivery.since) + delay.seconds > hook.maximumAge
        if isOver { return .giveUp(trouble: trouble) }
        return .retry(at: store.clock.now().addingTimeInterval(delay.seconds), trouble: trouble)
    }

    private static func metadata(of delivery: ClaimedDelivery) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "hook": "\(delivery.hook)", "delivery": "\(delivery.id)", "attempt": .stringConvertible(delivery.attempt),
        ]
        switch delivery.end {
        case .job(let job, _, _, _): metadata["job"] = .stringConvertible(job)
        case .batch(let end): metadata["batch"] = "\(end.batch)"
        }
        return metadata
    }

    private func log(_ delivery: ClaimedDelivery, _ end: DeliveryEnd) {
        var metadata = Self.metadata(of: delivery)
        switch end {
        case .delivered: logger.debug("delivered", metadata: metadata)
        case .release: logger.debug("delivery given back", metadata: metadata)
        case .retry(_, let trouble):
            metadata["reason"] = "\(trouble)"
            logger.warning("a delivery failed and will be retried", metadata: metadata)
        case .giveUp(let trouble):
            metadata["reason"] = "\(trouble)"
            logger.error("a delivery failed for too long and was given up", metadata: metadata)
        }
    }
}

/// The headers by which a receiver knows who sent a message and when, as Standard Webhooks defines them
/// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
package enum WebhookSignature {
    /// The headers of one try, made at `time`. The id is the same for each try; one signature is made with each key.
    package static func headers(
        id: String,
        time: Date,
        body: Data,
        keys: [HMACKey]
    ) -> [(name: String, value: String)] {
        let timestamp = String(Int64(time.timeIntervalSince1970))
        let signed = Array("\(id).\(timestamp).".utf8) + Array(body)
        let signatures = keys.map { "v1,\(Data($0.code(of: signed)).base64EncodedString())" }
        return [
            ("webhook-id", id), ("webhook-timestamp", timestamp),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}

/// The hooks of a worker, ready for use: URLs parsed and secrets read.
package struct HookSettings: Sendable {
    /// A hook with what its deliveries need.
    package struct Receiver: Sendable {
        enum Way: Sendable {
            case post(PostTarget, keys: [HMACKey])
            case command([String])
        }

        let hook: Hook
        let way: Way
    }

    let receivers: [String: Receiver]

    /// A worker without a hooks file delivers nothing.
    package init() { receivers = [:] }

    /// - Throws: `InvalidRequest` that names the field, also for a file of secrets that `read` cannot read.
    package init(_ file: HookFile, read: (String) throws(Errno) -> Data) throws(InvalidRequest) {
        var receivers: [String: Receiver] = [:]
        for hook in file.hooks { receivers[hook.name] = Receiver(hook: hook, way: try Self.way(to: hook, read)) }
        self.receivers = receivers
    }

    private static func way(
        to hook: Hook,
        _ read: (String) throws(Errno) -> Data
    ) throws(InvalidRequest) -> Receiver.Way {
        switch hook.target {
        case .command(let arguments): return .command(arguments)
        case .url(let text, let secret):
            let target = try Result { () throws(InvalidRequest) in try PostTarget(text) }
                .mapError { InvalidRequest(path: "hooks.\(hook.name).url", reason: $0.reason) }.get()
            switch secret {
            case .text(let secret): return .post(target, keys: [secret.key])
            case .file(let path): return .post(target, keys: try keys(of: hook, in: path, read))
            }
        }
    }

    private static func keys(
        of hook: Hook,
        in path: String,
        _ read: (String) throws(Errno) -> Data
    ) throws(InvalidRequest) -> [HMACKey] {
        func refuse(_ reason: String) -> InvalidRequest {
            InvalidRequest(path: "hooks.\(hook.name).secretFile", reason: "\(path): \(reason)")
        }
        let data = try Result { () throws(Errno) in try read(path) }.mapError { refuse("cannot be read: \($0)") }.get()
        var keys: [HMACKey] = []
        for line in String(decoding: data, as: UTF8.self).lines {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.isEmpty { continue }
            guard let secret = WebhookSecret(text) else { throw refuse("each line \(WebhookSecret.rule)") }
            keys.append(secret.key)
        }
        guard !keys.isEmpty else { throw refuse("has no secret") }
        return keys
    }

    /// The names of all hooks, sorted.
    package var names: [String] { receivers.keys.sorted() }
}
