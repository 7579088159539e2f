internal import CCurl
internal import CameoModel

/// The work of the transfer thread, and the state that belongs to it alone.
struct TransferLoop: ~Copyable {
    private let configuration: FetchConfiguration
    private let multi: MultiHandle
    private var admission: Admission<Mailbox.Arrival>
    private var active: [Int: Transfer] = [:]
    private var lastToken = 0

    init(_ configuration: FetchConfiguration) {
        self.configuration = configuration
        multi = MultiHandle(connections: configuration.maximumConnections)
        admission = Admission(
            total: min(configuration.maximumTransfers, configuration.maximumConnections),
            perOrigin: configuration.maximumConnectionsPerHost,
            patience: configuration.hostPatience
        )
    }

    /// A waker, valid as long as the loop exists.
    var waker: MultiWaker { multi.waker }

    /// One iteration: accepts new transfers, advances all of them, then sleeps until there is more to do.
    mutating func turn(with arrivals: [Mailbox.Arrival]) {
        for arrival in arrivals {
            arrival.clock.beginWait()
            admission.enqueue(arrival, for: arrival.request.url.origin)
        }
        endCancelled()
        startAdmitted()
        guard multi.perform() else { return endAll(CURLE_OUT_OF_MEMORY) }
        goOnWhereThereIsRoom()
        settleFinished()
        startAdmitted()
        for (arrival, delay) in admission.sendAway() {
            arrival.refuse(HostBusy(host: arrival.request.url.host, delay: delay))
        }
        let pause = admission.nextDeparture.map { ContinuousClock.now.duration(to: $0) }
        guard multi.wait(atMost: pause) else { return endAll(CURLE_OUT_OF_MEMORY) }
    }

    /// Ends all transfers and the given arrivals with `CancellationError`.
    mutating func close(refusing arrivals: [Mailbox.Arrival]) {
        for (token, transfer) in active {
            finish(token)
            transfer.arrival.continuation.resume(throwing: CancellationError())
        }
        for arrival in admission.removeWaiting(where: { _ in true }) { arrival.refuse(CancellationError()) }
        for arrival in arrivals { arrival.continuation.resume(throwing: CancellationError()) }
    }

    private mutating func startAdmitted() {
        while let arrival = admission.next() {
            arrival.clock.endWait()
            lastToken += 1
            do throws(CurlError) {
                let transfer = try Transfer(arrival, token: lastToken, configuration: configuration)
                guard multi.add(transfer.easy) else { throw CurlError(CURLE_FAILED_INIT) }
                active[lastToken] = transfer
            } catch {
                admission.release(arrival.request.url.origin)
                arrival.continuation.resume(returning: TransferResult(code: error.code))
            }
        }
    }

    private mutating func endCancelled() {
        for (token, transfer) in active where transfer.arrival.cancellation.isSet {
            finish(token)
            transfer.arrival.continuation.resume(throwing: CancellationError())
        }
        for arrival in admission.removeWaiting(where: \.cancellation.isSet) { arrival.refuse(CancellationError()) }
    }

    private mutating func goOnWhereThereIsRoom() {
        for (token, transfer) in active where transfer.isPaused {
            do throws(CurlError) { try transfer.goOnIfThereIsRoom() } catch { settle(token, code: error.code) }
        }
    }

    private mutating func settleFinished() {
        for finished in multi.takeFinished() { settle(finished.token, code: finished.code) }
    }

    /// Ends all transfers after libcurl itself failed: none would be sure to end.
    private mutating func endAll(_ code: CURLcode) {
        for token in active.keys { settle(token, code: code) }
    }

    private mutating func settle(_ token: Int, code: CURLcode) {
        guard let transfer = active[token] else { return }
        let result = transfer.result(code: code)
        finish(token)
        transfer.arrival.continuation.resume(returning: result)
    }

    private mutating func finish(_ token: Int) {
        guard let transfer = active.removeValue(forKey: token) else { return }
        multi.remove(transfer.easy)
        admission.release(transfer.arrival.request.url.origin)
    }
}
