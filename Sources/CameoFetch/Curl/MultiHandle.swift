internal import CCurl
internal import CameoModel

/// Sole owner of a libcurl multi handle: many transfers and their pool of connections. Belongs to one thread.
struct MultiHandle: ~Copyable {
    /// A transfer that is over.
    struct Finished {
        let token: Int
        let code: CURLcode
    }

    private let handle: UnsafeMutableRawPointer

    /// - Parameter connections: how many connections, idle ones included, may be open.
    init(connections: Int) {
        guard let handle = curl_multi_init() else { preconditionFailure("no memory for libcurl's multi handle") }
        self.handle = handle
        cameo_curl_multi_set_long(handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections)
        cameo_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, connections)
    }

    deinit { curl_multi_cleanup(handle) }

    /// - Returns: whether the library took it.
    func add(_ easy: EasyHandle) -> Bool { curl_multi_add_handle(handle, easy.pointer) == CURLM_OK }

    /// Ends the transfer if it is not over; an unfinished HTTP/1 exchange closes its connection.
    func remove(_ easy: EasyHandle) { curl_multi_remove_handle(handle, easy.pointer) }

    /// Does what can be done without waiting.
    func perform() -> Bool {
        var running: Int32 = 0
        return curl_multi_perform(handle, &running) == CURLM_OK
    }

    /// Sleeps until a socket, a timer of libcurl's or a ``MultiWaker`` has work, at most a minute or so long.
    func wait(atMost time: Duration?) -> Bool {
        let milliseconds = min(max(0, (time ?? .seconds(60)).milliseconds + 1), 60_000)
        return curl_multi_poll(handle, nil, 0, Int32(milliseconds), nil) == CURLM_OK
    }

    func takeFinished() -> [Finished] {
        var finished: [Finished] = []
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(handle, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            var token: UnsafePointer<CChar>?
            cameo_curl_get_string(message.pointee.easy_handle, CURLINFO_PRIVATE, &token)
            finished.append(Finished(token: Int(bitPattern: token), code: cameo_curl_message_result(message)))
        }
        return finished
    }

    /// Valid for as long as this handle lives.
    var waker: MultiWaker { MultiWaker(handle: handle) }
}

/// Ends the wait of a ``MultiHandle`` from another thread.
///
/// Unchecked because it is a bare pointer: curl_multi_wakeup is the one call that libcurl allows from any thread, and
/// the waker is only ever used under the lock of the ``Mailbox``, which gives it up before the handle goes.
struct MultiWaker: @unchecked Sendable {
    fileprivate let handle: UnsafeMutableRawPointer

    func wake() { curl_multi_wakeup(handle) }
}
