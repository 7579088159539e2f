internal import CCurl
internal import CameoModel
internal import Glibc

// Every callback gets the handle itself, unretained, as its user data: libcurl calls back only while the handle is in a
// multi handle, and `TransferLoop` retains it for that time.
extension EasyHandle {
    func installCallbacks() throws(CurlError) {
        let own = Unmanaged.passUnretained(self).toOpaque()
        try check(cameo_curl_set_write_function(pointer, Self.write))
        try check(cameo_curl_set_pointer(pointer, CURLOPT_WRITEDATA, own))
        try check(cameo_curl_set_open_socket_function(pointer, Self.openSocket))
        try check(cameo_curl_set_pointer(pointer, CURLOPT_OPENSOCKETDATA, own))
    }

    private static let write: curl_write_callback = { bytes, size, count, own in
        guard let own, let delegate = Unmanaged<EasyHandle>.fromOpaque(own).takeUnretainedValue().delegate else {
            return 0
        }
        let length = size * count
        guard length > 0 else { return 0 }
        KillPoint.midFetch.pass()
        switch delegate.receive(UnsafeRawBufferPointer(start: bytes, count: length)) {
        case .goOn: return length
        // Any other number tells libcurl to stop, except CURL_WRITEFUNC_PAUSE.
        case .stop: return 0
        case .pause: return cameo_curl_write_pauses
        }
    }

    /// Sets close-on-exec, which libcurl's own function does not: this process spawns renderers.
    private static let openSocket: curl_opensocket_callback = { own, purpose, address in
        guard let own, let address, purpose == CURLSOCKTYPE_IPCXN,
            let delegate = Unmanaged<EasyHandle>.fromOpaque(own).takeUnretainedValue().delegate,
            let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr)
        else { return CURL_SOCKET_BAD }
        // `addr` is declared as the smallest sockaddr, but has `addrlen` bytes.
        let bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(address) + offset,
            count: Int(address.pointee.addrlen)
        )
        guard delegate.mayConnect(toSocketAddress: bytes) else { return CURL_SOCKET_BAD }
        let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
        return socket(address.pointee.family, address.pointee.socktype | closeOnExec, address.pointee.protocol)
    }
}
