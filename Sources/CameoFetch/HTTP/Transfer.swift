internal import CameoHTTPCache
internal import CameoHTTPTransfer
internal import CameoModel
internal import CameoSystem
internal import Foundation

/// A transfer in progress. It belongs to the transfer thread.
final class Transfer: EasyHandleDelegate {
    /// The number of bytes to read of a body that is not needed, so that its connection can be reused.
    private static let unneededBytes = 65_536
    /// The maximum size of a stored head. No server needs more.
    private static let headLimit = (lines: 256, bytes: 65_536)

    let arrival: Mailbox.Arrival
    let easy: EasyHandle
    private let maximumBytes: Int
    /// The reservation for the body.
    private let reservation: ByteReservation
    private var pausedAt: ContinuousClock.Instant?
    var isPaused: Bool { pausedAt != nil }
    /// The total time of all pauses.
    private var pause = Duration.zero
    private let startedAt = ContinuousClock.now
    private let startTime: Date
    private var download: Download?
    /// Whether the kind of the body was determined, and whether it is that of a whole.
    private var hasBegun = false
    private var isWhole = false
    /// Whether the body may be a video to stop at; it is known after ``PartialResponse/leastBytes`` bytes.
    private var mayBeVideo = false
    /// The bytes of the body so far, with those that a resumed download began with.
    private var received = 0
    private var reserved = 0
    /// The size of the whole body; nil if it is unknown.
    private var total: Int?
    /// What is known of the result so far.
    private var known = TransferResult()

    init(_ arrival: Mailbox.Arrival, configuration: FetchConfiguration) throws(CurlError) {
        self.arrival = arrival
        maximumBytes = configuration.maximumBytes
        startTime = configuration.now()
        reservation = ByteReservation(ofDownloadFrom: configuration.budget, for: arrival.request.purpose)
        easy = try EasyHandle(certificateAuthorities: configuration.certificateAuthorityFile)
        try easy.configure(TransferOptions(for: arrival.request, within: configuration))
        easy.delegate = self
    }

    func receive(_ bytes: UnsafeRawBufferPointer, from _: EasyHandle) -> Reception {
        KillPoint.midFetch.pass()
        begin()
        guard known.isRest || isWhole else {
            received += bytes.count
            return received > Self.unneededBytes ? stop(.unneededBody) : .goOn
        }
        if known.isRest, let total, received + bytes.count > total { return stop(.longerRest) }
        guard received + bytes.count <= maximumBytes else { return stop(.tooLarge) }
        guard hasRoom(for: received + bytes.count) else {
            if !isPaused {
                pausedAt = .now
                arrival.clock.beginWait()
            }
            return .pause
        }
        received += bytes.count
        do throws(Errno) {
            if download == nil { download = try Download(keeping: reservation) }
            try download?.append(bytes)
            if arrival.request.part == nil {
                arrival.clock.note((received, total))
            }
            guard mayBeVideo, received >= PartialResponse.leastBytes else { return .goOn }
            mayBeVideo = false
            return download?.isVideo == true ? stop(.video) : .goOn
        } catch {
            return stop(.memory(error))
        }
    }

    private func stop(_ reason: TransferResult.Stop) -> Reception {
        known.stop = reason
        return .stop
    }

    /// Determines at the first bytes, or at the end without any, whether they continue a download. If not, the memory of
    /// that one is given back.
    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        // A coded body has the length of its code.
        let announced = easy.announcedLength
        total = announced > 0 && easy.responseHeaders("Content-Encoding").isEmpty ? announced : nil
        let head = head(status: easy.status)
        isWhole = arrival.request.part == nil && head.status == 200
        if let part = arrival.request.part {
            known.isRest = part.response.has(part.bytes, in: head)
            total = part.bytes.count
        } else if arrival.request.stopsAtVideo, let total, total >= PartialVideo.leastBytes {
            mayBeVideo = head.mayBePartialVideo
        }
        guard let resumption = arrival.request.resumption else { return }
        download = resumption.take(for: head)
        guard download != nil else { return }
        (known.isRest, received, reserved) = (true, resumption.partial.count, resumption.partial.total)
        total = reserved
    }

    /// Reserves an announced length at once; a body without a length, or an encoded one, in doubling steps.
    private func hasRoom(for count: Int) -> Bool {
        if count <= reserved { return true }
        let wanted = max(count, 2 * reserved, mayBeVideo ? 0 : easy.announcedLength)
        let bytes = min(wanted, maximumBytes)
        guard reservation.grow(to: bytes) else { return false }
        reserved = bytes
        return true
    }

    // MARK: - Waiting for room

    private func endPause() {
        guard let begun = pausedAt else { return }
        pausedAt = nil
        pause += begun.duration(to: .now)
        arrival.clock.endWait()
    }

    /// Continues if there is room now.
    func goOnIfThereIsRoom() throws(CurlError) {
        guard isPaused, hasRoom(for: received + 1) else { return }
        endPause()
        try easy.goOn(within: arrival.request.budget + pause)
    }

    func mayConnect(toSocketAddress address: UnsafeRawBufferPointer) -> Bool {
        let verdict = arrival.request.addressGuard?.judge(socketAddress: address) ?? .allowed
        if verdict == .allowed {
            if let address = IPAddress(socketAddress: address) { known.attempted.append(address) }
            return true
        }
        known.refusals.append(verdict)
        return false
    }

    func note(unopenedSocket error: Errno) { known.unopenedSocket = error }

    /// The result. Call once, after the transfer has ended.
    func result(_ error: CurlError?) -> TransferResult {
        endPause()
        arrival.clock.note(nil)
        let status = easy.status
        // A rest of which nothing has come is a rest all the same.
        if status >= 200 { begin() }
        var result = known
        result.error = error
        result.head = status >= 200 ? head(status: status) : nil
        let announced = easy.announcedLength
        result.announcedBytes = announced >= 0 ? announced : nil
        let lengths = easy.responseHeaders("Content-Length").flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
        result.announcesSeveralLengths = Set(lengths.map { $0.filter { $0 != 0x20 && $0 != 0x09 } }).count > 1
        result.cookies = easy.cookies()
        result.address = easy.peerAddress.flatMap { IPAddress($0) }
        result.wasConnected = easy.requestDelay > 0
        result.elapsed = startedAt.duration(to: .now) - pause
        do throws(Errno) {
            if let download = download.take() {
                let isWhole = !known.isRest || received == total
                switch known.stop {
                case nil where error == nil && isWhole: result.body = try download.finish()
                case nil, .video: result.begun = try download.finish()
                default: break
                }
            }
        } catch {
            result.stop = .memory(error)
        }
        return result
    }

    /// The head of the response. One that is too long to store may say anything, so it is taken to forbid caching.
    private func head(status: Int) -> CacheableResponse {
        var fields = HTTPFields()
        if let lines = easy.responseHeaders(atMost: Self.headLimit) {
            for line in lines { fields.append(line.name, line.value) }
        } else {
            fields.append("Cache-Control", "no-store")
            for name in ["Location", "Content-Type", "Retry-After", "Date"] {
                fields.set(name, easy.responseHeaders(name).first)
            }
        }
        let head = CacheableResponse(
            status: status,
            fields: fields,
            requestTime: startTime.addingTimeInterval(easy.requestDelay),
            responseTime: startTime.addingTimeInterval(easy.responseDelay)
        )
        let asksForPart = arrival.request.part != nil || arrival.request.resumption != nil
        return (asksForPart && status == 206 ? nil : head.whole) ?? head
    }
}
