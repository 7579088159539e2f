internal import CCurl
internal import CameoModel

/// Sole owner of a libcurl multi handle: many transfers and their connection pool. It belongs to one thread.
package struct MultiHandle: ~Copyable {
    private let handle: UnsafeMutableRawPointer

    /// - Parameter connections: the maximum number of open connections, idle ones included.
    package init(connections: Int) {
        guard let handle = curl_multi_init() else { preconditionFailure("no memory for libcurl's multi handle") }
        self.handle = handle
        cameo_curl_multi_set_long(handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections)
        cameo_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, connections)
    }

    deinit { curl_multi_cleanup(handle) }

    /// Begins the transfer, which `token` identifies in ``takeFinished()``.
    package func add(_ easy: EasyHandle, token: Int) throws(CurlError) {
        cameo_curl_set_pointer(easy.pointer, CURLOPT_PRIVATE, UnsafeMutableRawPointer(bitPattern: token))
        // Without it, ending a transfer whose name is being looked up waits for the look-up, and with it every other
        // transfer of the thread (https://github.com/curl/curl/issues/4852); the resolver's thread cleans up. Versions
        // before 7.87 do not know it.
        cameo_curl_set_long(easy.pointer, CURLOPT_QUICK_EXIT, 1)
        guard curl_multi_add_handle(handle, easy.pointer) == CURLM_OK else { throw CurlError(CURLE_FAILED_INIT) }
    }

    /// Removes the transfer, and aborts it if it is unfinished. An unfinished HTTP/1 exchange closes its connection.
    package func remove(_ easy: EasyHandle) { curl_multi_remove_handle(handle, easy.pointer) }

    /// Advances all transfers as far as possible without waiting.
    package func perform() -> Bool {
        var running: Int32 = 0
        return curl_multi_perform(handle, &running) == CURLM_OK
    }

    /// Sleeps until a socket, a libcurl timer or a ``MultiWaker`` has work, for at most a minute.
    package func wait(atMost time: Duration?) -> Bool {
        let milliseconds = min(max(0, (time ?? .seconds(60)).milliseconds + 1), 60_000)
        return curl_multi_poll(handle, nil, 0, Int32(milliseconds), nil) == CURLM_OK
    }

    /// The transfers that have ended, each with its error; nil for success.
    package func takeFinished() -> [(token: Int, error: CurlError?)] {
        var finished: [(token: Int, error: CurlError?)] = []
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(handle, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            var token: UnsafePointer<CChar>?
            cameo_curl_get_string(message.pointee.easy_handle, CURLINFO_PRIVATE, &token)
            let code = cameo_curl_message_result(message)
            finished.append((Int(bitPattern: token), code == CURLE_OK ? nil : CurlError(code)))
        }
        return finished
    }

    /// A waker, valid as long as this handle exists.
    package var waker: MultiWaker { MultiWaker(handle: handle) }
}

/// Ends the wait of a ``MultiHandle`` from another thread.
///
/// Unchecked because it is a bare pointer: curl_multi_wakeup is the only call that libcurl allows from any thread, and the
/// waker is used only under a lock, whose owner drops it before the handle is released.
package struct MultiWaker: @unchecked Sendable {
    fileprivate let handle: UnsafeMutableRawPointer

    package func wake() { curl_multi_wakeup(handle) }
}

/// libcurl as a whole.
package enum CurlLibrary {
    /// The first version with CURLOPT_PROTOCOLS_STR.
    private static let oldest: UInt32 = 0x07_55_00

    /// Why libcurl cannot be used here: words that follow its name; nil if it can. It is started by the first who asks. Others
    /// in this process may start it too, which only a thread-safe one allows at any time.
    package static let trouble: String? = {
        guard let version = curl_version_info(cameo_curl_version_now)?.pointee else { return "has no version" }
        guard version.version_num >= oldest, version.features & cameo_curl_is_thread_safe != 0 else {
            return "\(String(cString: version.version)) is too old; a thread-safe 7.85 or later is needed"
        }
        guard version.features & cameo_curl_has_async_dns != 0 else {
            return "was built without a resolver that leaves the transfers running"
        }
        let started = curl_global_init(cameo_curl_global_default)
        return started == CURLE_OK ? nil : "does not start: \(CurlError(started))"
    }()
}
