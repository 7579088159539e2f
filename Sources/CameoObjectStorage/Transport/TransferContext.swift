internal import CCurl
internal import Glibc

/// What libcurl's callbacks get as their user data, unretained: they are called during one transfer, whose caller keeps it.
final class TransferContext {
    private let receiver: BodyReceiver
    private let easy: UnsafeMutableRawPointer

    init(_ receiver: BodyReceiver, of easy: UnsafeMutableRawPointer) {
        self.receiver = receiver
        self.easy = easy
    }

    static let write: curl_write_callback = { bytes, size, count, own in
        guard let own else { return 0 }
        let context = Unmanaged<TransferContext>.fromOpaque(own).takeUnretainedValue()
        let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
        // Any other number tells libcurl to stop.
        return context.receiver.receive(bytes, status: context.status, announced: context.announced) ? bytes.count : 0
    }

    static let progress: curl_xferinfo_callback = { own, _, _, _, _ in
        guard let own else { return 1 }
        return Unmanaged<TransferContext>.fromOpaque(own).takeUnretainedValue().receiver.mayGoOn() ? 0 : 1
    }

    /// Sets close-on-exec, which libcurl's own function does not: a worker spawns renderers.
    static let openSocket: curl_opensocket_callback = { _, _, address in
        guard let address else { return CURL_SOCKET_BAD }
        let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
        return socket(address.pointee.family, address.pointee.socktype | closeOnExec, address.pointee.protocol)
    }

    private var status: Int {
        var status = 0
        return cameo_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0
    }

    /// Negative if the answer announces no length.
    private var announced: Int {
        var length: curl_off_t = -1
        return cameo_curl_get_offset(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length) == CURLE_OK ? Int(length) : -1
    }
}
