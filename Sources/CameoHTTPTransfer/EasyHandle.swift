internal import CCurl
internal import CameoModel
package import CameoSystem
package import Foundation
internal import Glibc

// DESIGN. There are two ways to drive transfers. Sources are downloaded by the thousand into memory, all on one thread
// (``MultiHandle``), which waits for nothing but its sockets. The few objects of a storage go into files and are sent from
// memory without a copy, so each has a thread (``BlockingThreads``) for ``EasyHandle/perform(sending:)``: writing to a disk
// blocks, and on the one thread it would hold up all other transfers.

/// The owner of a transfer, called on the thread that drives it.
package protocol EasyHandleDelegate: AnyObject {
    func receive(_ bytes: UnsafeRawBufferPointer, from easy: EasyHandle) -> Reception
    /// Whether a socket may be opened for an address, a `sockaddr`.
    func mayConnect(toSocketAddress address: UnsafeRawBufferPointer) -> Bool
    func note(unopenedSocket error: Errno)
    /// Whether the transfer goes on; asked only during ``EasyHandle/perform(sending:)``.
    func mayGoOn() -> Bool
}

extension EasyHandleDelegate {
    package func mayConnect(toSocketAddress _: UnsafeRawBufferPointer) -> Bool { true }
    package func note(unopenedSocket _: Errno) {}
    package func mayGoOn() -> Bool { true }
}

/// How a transfer continues after it has offered bytes.
package enum Reception {
    case goOn
    /// The transfer ends with ``CurlError/Kind/stopped``.
    case stop
    /// The bytes were not taken; they are offered again after ``EasyHandle/goOn(within:)``.
    case pause
}

/// Sole owner of a libcurl easy handle: one transfer, or one after another. It belongs to one thread and must be removed from
/// its ``MultiHandle`` before it is released.
package final class EasyHandle {
    /// The raw handle, used by ``MultiHandle`` and ``configure(_:)``.
    let pointer: UnsafeMutableRawPointer
    let certificateAuthorities: String?
    /// The lines that libcurl is to send, which it does not copy.
    private var headers: UnsafeMutablePointer<curl_slist>?
    package weak var delegate: (any EasyHandleDelegate)?

    /// - Parameter certificateAuthorities: a file of trusted certificates (PEM) in place of the system's.
    /// - Throws: an error of the kind `machine`.
    package init(certificateAuthorities: String?) throws(CurlError) {
        guard let pointer = curl_easy_init() else { throw CurlError(CURLE_FAILED_INIT) }
        (self.pointer, self.certificateAuthorities) = (pointer, certificateAuthorities)
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headers)
    }

    /// Carries out the transfer, and blocks until it has ended. The delegate is asked whether it goes on whenever bytes move,
    /// and about once a second. A body is sent without a copy, with the method that the options name.
    package func perform(sending body: Data?) throws(CurlError) {
        try set(CURLOPT_NOPROGRESS, 0)
        guard let body else { return try check(curl_easy_perform(pointer)) }
        try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: body.count)
        // Data.withUnsafeBytes rethrows untyped errors only, so the closure returns codes as values. An empty body has to
        // have an address too: without one, libcurl would ask a callback for it.
        let code = body.withUnsafeBytes { bytes -> CURLcode in
            let start = bytes.baseAddress ?? UnsafeRawPointer(("" as StaticString).utf8Start)
            let code = cameo_curl_set_pointer(pointer, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: start))
            return code == CURLE_OK ? curl_easy_perform(pointer) : code
        }
        try check(code)
    }

    func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try check(cameo_curl_set_long(pointer, option, value))
    }

    /// Nil leaves the option as it is.
    func set(_ option: CURLoption, _ value: String?) throws(CurlError) {
        if let value { try check(cameo_curl_set_string(pointer, option, value)) }
    }

    /// Sets an option of type `curl_off_t`, which has 64 bits on every platform.
    func set(_ option: CURLoption, offset value: Int) throws(CurlError) {
        try check(cameo_curl_set_offset(pointer, option, curl_off_t(value)))
    }

    /// Sets all headers that are to be sent. One without a value is sent too.
    func setHeaders(_ headers: [(name: String, value: String)]) throws(CurlError) {
        curl_slist_free_all(self.headers)
        self.headers = nil
        for (name, value) in headers {
            guard let longer = curl_slist_append(self.headers, value.isEmpty ? "\(name);" : "\(name): \(value)") else {
                throw .outOfMemory
            }
            self.headers = longer
        }
        try check(cameo_curl_set_list(pointer, CURLOPT_HTTPHEADER, self.headers))
    }

    /// Those of the transfer and of its response (CURLINFO_COOKIELIST).
    package func cookies() -> [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        guard cameo_curl_get_list(pointer, CURLINFO_COOKIELIST, &list) == CURLE_OK else { return [] }
        defer { curl_slist_free_all(list) }
        return sequence(first: list) { $0?.pointee.next }.prefix { $0 != nil }.compactMap { item in
            item?.pointee.data.map { String(cString: $0) }
        }
    }

    /// Ends a pause. The time limit counts from the beginning of the transfer. The bytes that were not taken may be offered
    /// during this call.
    package func goOn(within time: Duration) throws(CurlError) {
        try set(CURLOPT_TIMEOUT_MS, Self.milliseconds(time))
        try check(curl_easy_pause(pointer, cameo_curl_pause_ends))
    }

    /// At least 1, because 0 means no limit to libcurl.
    static func milliseconds(_ time: Duration) -> Int { max(1, min(time, .seconds(1_000_000_000)).milliseconds) }

    /// The status of the response; 0 without one.
    package var status: Int {
        var status = 0
        cameo_curl_get_long(pointer, CURLINFO_RESPONSE_CODE, &status)
        return status
    }

    /// The `Content-Length` of the response; negative if there is none.
    package var announcedLength: Int { offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) }

    /// When the request could be sent, over a connection with TLS if required, and when the response began: in seconds from the
    /// start of the transfer; 0 if it did not come so far.
    package var requestDelay: TimeInterval { Double(offset(CURLINFO_PRETRANSFER_TIME_T)) / 1e6 }
    package var responseDelay: TimeInterval { Double(offset(CURLINFO_STARTTRANSFER_TIME_T)) / 1e6 }

    private func offset(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        return cameo_curl_get_offset(pointer, info, &value) == CURLE_OK ? Int(value) : 0
    }

    /// The address of the peer, also of a connection that was used before; nil or empty without a connection.
    package var peerAddress: String? {
        var value: UnsafePointer<CChar>?
        guard cameo_curl_get_string(pointer, CURLINFO_PRIMARY_IP, &value) == CURLE_OK, let value else { return nil }
        return String(cString: value)
    }

    /// The header lines of the final response in their order; nil if they exceed the limit.
    package func responseHeaders(atMost limit: (lines: Int, bytes: Int)) -> [(name: String, value: String)]? {
        var lines: [(name: String, value: String)] = []
        var bytes = 0
        var previous: UnsafeMutablePointer<curl_header>?
        while let header = curl_easy_nextheader(pointer, cameo_curl_header_of_response, -1, previous) {
            previous = header
            let name = String(cString: header.pointee.name)
            let line = (name, HeaderText.text(header.pointee.value, of: name))
            bytes += line.0.utf8.count + line.1.utf8.count
            guard lines.count < limit.lines, bytes <= limit.bytes else { return nil }
            lines.append(line)
        }
        return lines
    }

    /// All headers of this name in the final response.
    package func responseHeaders(_ name: String) -> [String] {
        var values: [String] = []
        var header: UnsafeMutablePointer<curl_header>?
        while curl_easy_header(pointer, name, values.count, cameo_curl_header_of_response, -1, &header) == CURLHE_OK,
            let value = header?.pointee.value
        {
            values.append(HeaderText.text(value, of: name))
        }
        return values
    }

    func check(_ code: CURLcode) throws(CurlError) {
        guard code == CURLE_OK else { throw CurlError(code) }
    }
}

// Every callback gets the handle itself, unretained, as its user data: libcurl calls back only while the handle is in a
// multi handle, whose owner retains it for that time, or in a call of its own.
extension EasyHandle {
    func installCallbacks() throws(CurlError) {
        let own = Unmanaged.passUnretained(self).toOpaque()
        try check(cameo_curl_set_write_function(pointer, Self.write))
        try check(cameo_curl_set_pointer(pointer, CURLOPT_WRITEDATA, own))
        try check(cameo_curl_set_progress_function(pointer, Self.progress))
        try check(cameo_curl_set_pointer(pointer, CURLOPT_XFERINFODATA, own))
        try check(cameo_curl_set_open_socket_function(pointer, Self.openSocket))
        try check(cameo_curl_set_pointer(pointer, CURLOPT_OPENSOCKETDATA, own))
    }

    private static func handle(_ own: UnsafeMutableRawPointer?) -> EasyHandle? {
        own.map { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let write: curl_write_callback = { bytes, size, count, own in
        let length = size * count
        guard let handle = EasyHandle.handle(own), let delegate = handle.delegate, length > 0 else { return 0 }
        switch delegate.receive(UnsafeRawBufferPointer(start: bytes, count: length), from: handle) {
        case .goOn: return length
        // Any other number tells libcurl to stop, except CURL_WRITEFUNC_PAUSE.
        case .stop: return 0
        case .pause:
            // During a pause, libcurl suspends its speed limit but not its time limit. Cannot fail: it was set before.
            try? handle.set(CURLOPT_TIMEOUT_MS, 0)
            return cameo_curl_write_pauses
        }
    }

    private static let progress: curl_xferinfo_callback = { own, _, _, _, _ in
        EasyHandle.handle(own)?.delegate?.mayGoOn() == true ? 0 : 1
    }

    /// Sets close-on-exec, which libcurl's own function does not: this process spawns renderers.
    private static let openSocket: curl_opensocket_callback = { own, purpose, address in
        guard let delegate = EasyHandle.handle(own)?.delegate, let address, purpose == CURLSOCKTYPE_IPCXN,
            let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr)
        else { return CURL_SOCKET_BAD }
        // `addr` is declared as the smallest sockaddr, but has `addrlen` bytes.
        let length = Int(address.pointee.addrlen)
        let bytes = UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + offset, count: length)
        guard delegate.mayConnect(toSocketAddress: bytes) else { return CURL_SOCKET_BAD }
        let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
        let opened = socket(address.pointee.family, address.pointee.socktype | closeOnExec, address.pointee.protocol)
        if opened < 0 { delegate.note(unopenedSocket: Errno()) }
        return opened
    }
}

/// Decodes the bytes of a header value (RFC 9110, section 5.5).
enum HeaderText {
    private static let urls: Set = ["location", "content-location"]

    /// The value without surrounding white space, and without the line end that libcurl 7.88 leaves in an empty value.
    ///
    /// Bytes that are not UTF-8 are read as ISO-8859-1, which HTTP once specified. In a URL they are percent-encoded, so that
    /// the bytes of the server's path are preserved.
    static func text(_ value: UnsafePointer<CChar>, of name: String) -> String {
        let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value)).drop(while: \.isASCIISpace)
        let end = bytes.lastIndex { !$0.isASCIISpace }.map { $0 + 1 } ?? bytes.startIndex
        let trimmed = bytes[..<end]
        if let text = String(validating: trimmed, as: UTF8.self) { return text }
        let isURL = urls.contains(name.lowercased())
        return trimmed.map { byte in
            isURL && byte >= 0x80 ? "%\(Hexadecimal.encode([byte]).uppercased())" : String(Unicode.Scalar(byte))
        }.joined()
    }
}
