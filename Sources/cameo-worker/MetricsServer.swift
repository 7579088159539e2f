internal import CameoModel
internal import CommandSupport
internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

// DESIGN. A worker does not link an HTTP server for one page. One thread takes one connection at a time, answers one
// request and closes it. So there is no state to exhaust: further connections wait in the kernel, 16 at most, and a
// client that is slow to ask or to read costs the others a few seconds, and the jobs nothing.

/// Answers `GET /metrics` over HTTP/1.1, and nothing else.
struct MetricsServer: Sendable {
    /// The length of a request's line and headers, in bytes.
    private static let longestRequest = 8_192
    /// The time that a client has to send its request, and that it has to take the answer.
    private static let patience = Duration.seconds(5)
    private static let backlog: Int32 = 16

    private let listener: OpenFile
    /// The address with the port that the kernel chose, if 0 was asked for.
    let address: ListenAddress

    /// Listens.
    ///
    /// - Throws: `CommandFailure` if the address is unknown or in use.
    init(on address: ListenAddress) throws(CommandFailure) {
        guard case .tcp(let host, let port) = address else {
            throw CommandFailure("--metrics-listen \(address): must be a TCP address", .usage)
        }
        func failure(_ reason: String) -> CommandFailure {
            CommandFailure("--metrics-listen \(address): \(reason)", .failed)
        }
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        guard code == 0, let first = found?.pointee else { throw failure(String(cString: gai_strerror(code))) }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        listener = OpenFile(adopting: socket(first.ai_family, type, first.ai_protocol))
        var yes: Int32 = 1
        guard listener.descriptor >= 0,
            setsockopt(listener.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0,
            bind(listener.descriptor, first.ai_addr, first.ai_addrlen) == 0,
            listen(listener.descriptor, Self.backlog) == 0
        else { throw failure("\(Errno())") }
        self.address = .tcp(host: host, port: Self.port(of: listener) ?? port)
    }

    private static func port(of socket: OpenFile) -> Int? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.descriptor, $0, &length) }
        }
        // The port is at the same place in an IPv4 address.
        return code == 0 ? Int(UInt16(bigEndian: address.sin6_port)) : nil
    }

    /// Answers until the process ends, on a thread of its own.
    func start(_ metrics: @escaping @Sendable () async throws -> (text: String, mediaType: String)) {
        Thread.detachNewThread {
            while true {
                let connection = accept(listener.descriptor, nil, nil)
                guard connection >= 0 else {
                    // Out of descriptors, or the client is gone.
                    if errno != EINTR { usleep(100_000) }
                    continue
                }
                Self.serve(OpenFile(adopting: connection), metrics)
            }
        }
    }

    // MARK: - One connection

    private struct Answer {
        let status: String
        var mediaType = "text/plain; charset=utf-8"
        var fields = ""
        let body: String

        func bytes(withBody: Bool) -> Data {
            let head = """
                HTTP/1.1 \(status)\r
                Content-Type: \(mediaType)\r
                Content-Length: \(body.utf8.count)\r
                Cache-Control: no-store\r
                Connection: close\r
                \(fields)\r

                """
            return Data((head + (withBody ? body : "")).utf8)
        }
    }

    private static func serve(
        _ connection: OpenFile,
        _ metrics: @escaping @Sendable () async throws -> (text: String, mediaType: String)
    ) {
        _ = fcntl(connection.descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(connection.descriptor, F_SETFL, O_NONBLOCK)
        guard let request = request(on: connection) else { return }
        let words = request.split(separator: "\r\n", maxSplits: 1).first?.split(separator: " ") ?? []
        let answer =
            switch (words.first, words.dropFirst().first?.split(separator: "?", omittingEmptySubsequences: false).first)
            {
            case _ where words.count != 3 || !words[2].hasPrefix("HTTP/1."):
                Answer(status: "400 Bad Request", body: "this is not an HTTP/1.1 request\n")
            case ("GET", "/metrics"), ("HEAD", "/metrics"): page(metrics)
            case (_, "/metrics"):
                Answer(status: "405 Method Not Allowed", fields: "Allow: GET, HEAD\r\n", body: "only GET\n")
            default: Answer(status: "404 Not Found", body: "nothing here: the path is /metrics\n")
            }
        send(answer.bytes(withBody: words.first != "HEAD"), on: connection)
    }

    /// The request's line and headers; nil if the client is gone, too slow, or sends too many.
    private static func request(on connection: OpenFile) -> String? {
        let deadline = ContinuousClock.now + patience
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: longestRequest)
        while bytes.count < longestRequest {
            guard connection.isReady(Int16(POLLIN), before: deadline) else { return nil }
            let count = read(connection.descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            bytes += buffer.prefix(count)
            let text = String(decoding: bytes, as: UTF8.self)
            if text.contains("\r\n\r\n") { return text }
        }
        return nil
    }

    /// Waits for the store. Only this thread is blocked, which has nothing else to do.
    private static func page(
        _ metrics: @escaping @Sendable () async throws -> (text: String, mediaType: String)
    ) -> Answer {
        let answer = Mutex<Answer?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Task {
            do {
                let page = try await metrics()
                answer.withLock { $0 = Answer(status: "200 OK", mediaType: page.mediaType, body: page.text) }
            } catch {
                answer.withLock { $0 = Answer(status: "503 Service Unavailable", body: "\(error)\n") }
            }
            isDone.signal()
        }
        isDone.wait()
        return answer.withLock { $0 } ?? Answer(status: "503 Service Unavailable", body: "")
    }

    private static func send(_ data: Data, on connection: OpenFile) {
        let deadline = ContinuousClock.now + patience
        var rest = data[...]
        while !rest.isEmpty {
            guard connection.isReady(Int16(POLLOUT), before: deadline) else { return }
            let count = rest.withUnsafeBytes { write(connection.descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR || errno == EAGAIN else { return }
            rest = rest.dropFirst(max(0, count))
        }
        shutdown(connection.descriptor, Int32(SHUT_WR))
    }
}

extension OpenFile {
    /// Waits until these events of `poll` can be handled; false if that takes too long.
    fileprivate func isReady(_ events: Int16, before deadline: ContinuousClock.Instant) -> Bool {
        let left = ContinuousClock.now.duration(to: deadline)
        var wait = pollfd(fd: descriptor, events: events, revents: 0)
        return left > .zero && poll(&wait, 1, Int32(left.milliseconds) + 1) > 0
    }
}
