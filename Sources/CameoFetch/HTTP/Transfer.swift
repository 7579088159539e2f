internal import CCurl
internal import CameoModel

/// One hop under way. Belongs to the transfer thread.
final class Transfer: EasyHandleDelegate {
    /// Of answers that are not a picture so much is read, so that their connection can be used again.
    private static let unneededBytes = 65_536

    let arrival: Mailbox.Arrival
    let easy: EasyHandle
    private let maximumBytes: Int
    private let startedAt = ContinuousClock.now
    private var download: Download?
    private var received = 0
    private var stop: TransferResult.Stop?
    private var refusals: [AddressGuard.Verdict] = []
    private var attemptedAddresses = 0

    /// `token` names the transfer in its multi handle.
    init(_ arrival: Mailbox.Arrival, token: Int, configuration: FetchConfiguration) throws(CurlError) {
        self.arrival = arrival
        maximumBytes = configuration.maximumBytes
        easy = try EasyHandle(token: token)
        try easy.configure(for: arrival.request, within: configuration)
        easy.delegate = self
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received += bytes.count
        guard easy.number(CURLINFO_RESPONSE_CODE) == 200 else {
            guard received > Self.unneededBytes else { return true }
            stop = .unneededBody
            return false
        }
        guard received <= maximumBytes else {
            stop = .tooLarge
            return false
        }
        do throws(Errno) {
            if download == nil { download = try Download() }
            try download?.append(bytes)
            return true
        } catch {
            stop = .memory(error)
            return false
        }
    }

    func mayConnect(toSocketAddress address: UnsafeRawBufferPointer) -> Bool {
        let verdict = arrival.request.addressGuard?.judge(socketAddress: address) ?? .allowed
        if verdict == .allowed {
            attemptedAddresses += 1
            return true
        }
        refusals.append(verdict)
        return false
    }

    /// Call once, when the transfer is over.
    func result(code: CURLcode) -> TransferResult {
        var result = TransferResult(code: code)
        result.status = easy.number(CURLINFO_RESPONSE_CODE)
        result.location = easy.responseHeader("Location")
        result.mediaType = easy.string(CURLINFO_CONTENT_TYPE).flatMap(Self.mediaType)
        result.retryAfter = easy.responseHeader("Retry-After").flatMap { header in
            RetryAfter.delay(header, answeredAt: easy.responseHeader("Date"))
        }
        let announced = easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        result.announcedBytes = announced >= 0 ? announced : nil
        result.refusals = refusals
        result.attemptedAddresses = attemptedAddresses
        result.wasConnected = easy.offset(CURLINFO_PRETRANSFER_TIME_T) > 0
        result.elapsed = startedAt.duration(to: .now)
        do throws(Errno) {
            if code == CURLE_OK, let download = download.take() { result.body = try download.finish() }
        } catch {
            stop = .memory(error)
        }
        result.stop = stop
        return result
    }

    /// Without parameters, in lower case; nil for what is none: it is a stranger's text, and is shown to people.
    private static func mediaType(of header: String) -> String? {
        let bytes = header.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 && $0 != 0x09 }
        let isType = bytes.allSatisfy { (0x21...0x7E).contains($0) } && bytes.contains(UInt8(ascii: "/"))
        guard isType, bytes.count <= 127 else { return nil }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }
}
