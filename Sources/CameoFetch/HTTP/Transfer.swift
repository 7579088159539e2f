internal import CCurl
internal import CameoHTTPCache
internal import CameoModel
internal import Foundation

/// One hop under way. Belongs to the transfer thread.
final class Transfer: EasyHandleDelegate {
    /// Of answers that are not a picture so much is read, so that their connection can be used again.
    private static let unneededBytes = 65_536
    /// Of an answer's head so much is kept; a server has no use for more.
    private static let headLimit = (lines: 256, bytes: 65_536)

    let arrival: Mailbox.Arrival
    let easy: EasyHandle
    private let maximumBytes: Int
    private let startedAt = ContinuousClock.now
    private let startTime: Date
    private var download: Download?
    private var received = 0
    private var stop: TransferResult.Stop?
    private var refusals: [AddressGuard.Verdict] = []
    private var attempted: [IPAddress] = []

    /// `token` names the transfer in its multi handle.
    init(_ arrival: Mailbox.Arrival, token: Int, configuration: FetchConfiguration) throws(CurlError) {
        self.arrival = arrival
        maximumBytes = configuration.maximumBytes
        startTime = configuration.now()
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
            if let address = IPAddress(socketAddress: address) { attempted.append(address) }
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
        if result.status >= 200 { result.head = head(status: result.status) }
        let contentType = easy.string(CURLINFO_CONTENT_TYPE)
        result.mediaType = contentType.flatMap(ContentType.mediaType)
        result.textEncoding = contentType.flatMap(ContentType.charset)
        result.retryAfter = easy.responseHeader("Retry-After").flatMap { header in
            RetryAfter.delay(header, answeredAt: easy.responseHeader("Date"))
        }
        let announced = easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        result.announcedBytes = announced >= 0 ? announced : nil
        let lengths = easy.responseHeaders("Content-Length").flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
        result.announcesSeveralLengths = Set(lengths.map { $0.filter { $0 != 0x20 && $0 != 0x09 } }).count > 1
        result.refusals = refusals
        result.attempted = attempted
        result.address = easy.string(CURLINFO_PRIMARY_IP).flatMap { IPAddress($0) }
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

    /// A head that is too long to be kept may have said anything, so it is taken to forbid caching.
    private func head(status: Int) -> CacheableResponse {
        let lines = easy.responseHeaders(atMost: Self.headLimit) ?? [("Cache-Control", "no-store")]
        return CacheableResponse(
            status: status,
            fields: HTTPFields(lines.map { HTTPFields.Line(name: $0.name, value: $0.value) }),
            requestTime: time(CURLINFO_PRETRANSFER_TIME_T),
            responseTime: time(CURLINFO_STARTTRANSFER_TIME_T)
        )
    }

    /// libcurl counts the microseconds since the transfer's start.
    private func time(_ event: CURLINFO) -> Date {
        startTime.addingTimeInterval(Double(easy.offset(event)) / 1e6)
    }
}
